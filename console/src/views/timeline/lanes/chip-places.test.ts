import { expect, it } from 'vitest';
import { chipPlaces } from './chip-places';

const chips = (begins: (number | null)[], now: number | null = null, room = 1_000): number[] =>
  chipPlaces({ begins, widths: begins.map(() => 100), room, now });

it('the chip of a fork is next to the start of its line', () => {
  expect(chips([800])).toEqual([694]);
  // Right of the curve at the start of the line if the left side has no room.
  expect(chips([60])).toEqual([94]);
});

it('the chip is at the left edge if the start is out of view or unknown, or nothing has room', () => {
  expect(chips([-10, 1_010, null])).toEqual([8, 8, 8]);
  expect(chips([70], null, 150)).toEqual([8]);
});

it('the chip covers neither the now line nor the curve of a lower fork', () => {
  // At the current time, where forks of a running clock start.
  expect(chips([800], 800)).toEqual([694]);
  const [chip] = chips([820], 800);
  expect(chip! + 100).toBeLessThanOrEqual(798);
  // The curve of the second fork passes the first chip; the curve of the first does not reach the second chip.
  const [first, second] = chips([700, 650]);
  expect(first! + 100).toBeLessThanOrEqual(650);
  expect(second).toBe(544);
  expect(chips([650, 700])).toEqual([544, 594]);
  // Right of a curve that leaves no room on its left.
  expect(chips([120, 60])[0]).toBe(154);
});
