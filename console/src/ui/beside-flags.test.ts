import { expect, it } from 'vitest';
import { rightOf } from './beside-flags';

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
  expect(rightOf([], 150, 1_000, 960)).toBe(52);
  expect(rightOf([], 150, 1_000, 995)).toBe(17);
  expect(rightOf([], 150, 1_000, 829)).toBe(8);
  expect(rightOf([], 150, 1_000, 1_200)).toBe(8);
  // Left of a flag as well, where that is next to it.
  expect(rightOf([900], 150, 1_000, 960)).toBe(106);
  expect(rightOf([], 150, 140, 130)).toBe(8);
});
