import { describe, expect, it } from 'vitest';
import { SLICES, cellsAt, knownCount, slicesOf, type Growth } from './cell-growth';
import type { Cells } from './cells';

const box = { west: 0, south: 0, east: 10, north: 10 };
const whole: Cells = {
  resolution: 10,
  cells: [
    { ...box, key: 'early', count: 10 },
    { ...box, key: 'late', count: 4 },
  ],
  classes: [1, 2, 5, 10, 20],
  placed: 14,
  total: 14,
};
const range = { from: 0n, to: BigInt(SLICES) * 100n - 1n };
const growth = (known = SLICES): Growth => ({
  of: whole,
  range,
  slices: Array.from({ length: SLICES }, (_, index) =>
    index >= known
      ? null
      : new Map<string, number>(index === 0 ? [['early', 10]] : index === SLICES - 1 ? [['late', 4]] : []),
  ),
});
const countsOf = ({ cells }: Cells): [string, number][] => cells.map(({ key, count }) => [key, count]);

describe('cells during playback', () => {
  it('fill slice by slice, and evenly within a slice', () => {
    expect(countsOf(cellsAt(growth(), 0n))).toEqual([]);
    expect(countsOf(cellsAt(growth(), 50n))).toEqual([['early', 5]]);
    expect(countsOf(cellsAt(growth(), 100n))).toEqual([['early', 10]]);
    const near = cellsAt(growth(), range.to - 49n);
    expect(countsOf(near)).toEqual([
      ['early', 10],
      ['late', 2],
    ]);
    expect([near.placed, near.classes]).toEqual([12, whole.classes]);
    expect(cellsAt(growth(), range.to)).toBe(whole);
    expect(countsOf(cellsAt(growth(), -5n))).toEqual([]);
  });

  it('show counted slices while the rest is pending', () => {
    expect(knownCount(growth(1))).toBe(1);
    expect(countsOf(cellsAt(growth(1), range.to - 1n))).toEqual([['early', 10]]);
    expect(countsOf(cellsAt(growth(0), 1_000n))).toEqual([]);
  });

  it('are counted in slices without gaps', () => {
    const parts = slicesOf({ from: 7n, to: 1_000n });
    expect([parts[0]!.from, parts.at(-1)!.to]).toEqual([7n, 1_000n]);
    for (const [index, part] of parts.slice(1).entries()) expect(part.from).toBe(parts[index]!.to + 1n);
  });
});
