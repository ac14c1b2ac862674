import { expect, it } from 'vitest';
import { rightOf } from './flag-places';

it('what floats above a chart is at its right, where no flag is', () => {
  expect(rightOf([], 150, 1_000)).toBe(8);
  expect(rightOf([100, 400], 150, 1_000)).toBe(8);
  // Left of the flag at 900, and of the next one.
  expect(rightOf([900], 150, 1_000)).toBe(106);
  expect(rightOf([760, 900], 150, 1_000)).toBe(246);
  // A flag whose pole is beside it reaches under it.
  expect(rightOf([835], 150, 1_000)).toBe(171);
  expect(rightOf([1_200, -40], 150, 1_000)).toBe(8);
});

it('where flags are everywhere it stays where one looks for it', () => {
  const flags = Array.from({ length: 40 }, (_, index) => index * 20);
  expect(rightOf(flags, 150, 800)).toBe(8);
});

it('it hides neither the line of now nor its head', () => {
  // Its right end is left of the head, which is as wide to both sides.
  expect(rightOf([], 150, 1_000, { now: 960 })).toBe(52);
  expect(rightOf([], 150, 1_000, { now: 995 })).toBe(17);
  expect(rightOf([], 150, 1_000, { now: 829 })).toBe(8);
  expect(rightOf([], 150, 1_000, { now: 1_200 })).toBe(8);
  // Left of a flag as well, where that is next to it.
  expect(rightOf([900], 150, 1_000, { now: 960 })).toBe(106);
  expect(rightOf([], 150, 140, { now: 130 })).toBe(8);
});

it('it does not hide the name of what is chosen, which is on the side of its line with more room', () => {
  const named = (x: number): { chosen: { x: number; name: string } } => ({ chosen: { x, name: 'KATRINA' } });
  // The line at 900, and 6 + 7 * 8 pixels left of it.
  expect(rightOf([], 150, 1_000, named(900))).toBe(1_000 - (900 - 62) + 6);
  // Right of the line, and out of the way.
  expect(rightOf([], 150, 1_000, named(400))).toBe(8);
  expect(rightOf([], 150, 600, named(290))).toBe(8);
  expect(rightOf([], 250, 600, named(290))).toBe(600 - 290 + 6);
});
