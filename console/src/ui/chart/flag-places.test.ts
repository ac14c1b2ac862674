import { expect, it } from 'vitest';
import { rightOf } from './flag-places';

it('button is at the right, or left of flags', () => {
  expect(rightOf([], 150, 1_000)).toBe(8);
  expect(rightOf([100, 400], 150, 1_000)).toBe(8);
  // Left of the flag at 900 or 760.
  expect(rightOf([900], 150, 1_000)).toBe(106);
  expect(rightOf([760, 900], 150, 1_000)).toBe(246);
  // A flag extends to the right of its pole.
  expect(rightOf([835], 150, 1_000)).toBe(171);
  expect(rightOf([1_200, -40], 150, 1_000)).toBe(8);
});

it('button stays at the default place if flags are everywhere', () => {
  const flags = Array.from({ length: 40 }, (_, index) => index * 20);
  expect(rightOf(flags, 150, 800)).toBe(8);
});

it('button avoids the current time line and its head', () => {
  // Left of the head, which extends to both sides.
  expect(rightOf([], 150, 1_000, { now: 960 })).toBe(52);
  expect(rightOf([], 150, 1_000, { now: 995 })).toBe(17);
  expect(rightOf([], 150, 1_000, { now: 829 })).toBe(8);
  expect(rightOf([], 150, 1_000, { now: 1_200 })).toBe(8);
  // Left of an adjacent flag as well.
  expect(rightOf([900], 150, 1_000, { now: 960 })).toBe(106);
  expect(rightOf([], 150, 140, { now: 130 })).toBe(8);
});

it('button avoids the label of the selection, which is on the side with more room', () => {
  const named = (x: number): { chosen: { x: number; name: string } } => ({ chosen: { x, name: 'KATRINA' } });
  // The line is at 900, and the label extends 6 + 7 * 8 pixels to its left.
  expect(rightOf([], 150, 1_000, named(900))).toBe(1_000 - (900 - 62) + 6);
  // Right of the line, where it does not overlap.
  expect(rightOf([], 150, 1_000, named(400))).toBe(8);
  expect(rightOf([], 150, 600, named(290))).toBe(8);
  expect(rightOf([], 250, 600, named(290))).toBe(600 - 290 + 6);
});
