import { expect, it } from 'vitest';
import { chipPlaces } from './chip-places';

const chips = (begins: (number | null)[], now: number | null = null, room = 1_000): number[] =>
  chipPlaces({ begins, widths: begins.map(() => 100), room, now });

it('the chip of a fork is beside the place where its line begins', () => {
  expect(chips([800])).toEqual([694]);
  // Right of the curve in which the line begins, where there is no room on the left.
  expect(chips([60])).toEqual([94]);
});

it('it stands at the edge where that is not in view, not known or nowhere has room', () => {
  expect(chips([-10, 1_010, null])).toEqual([8, 8, 8]);
  expect(chips([70], null, 150)).toEqual([8]);
});

it('it hides neither the line of now nor the way to a fork below', () => {
  // At now, where forks of a running clock begin.
  expect(chips([800], 800)).toEqual([694]);
  const [chip] = chips([820], 800);
  expect(chip! + 100).toBeLessThanOrEqual(798);
  // The way to the second passes the first; that to the first does not reach the second.
  const [first, second] = chips([700, 650]);
  expect(first! + 100).toBeLessThanOrEqual(650);
  expect(second).toBe(544);
  expect(chips([650, 700])).toEqual([544, 594]);
  // Right of a way that leaves no room on its left.
  expect(chips([120, 60])[0]).toBe(154);
});
