import { describe, expect, it } from 'vitest';
import { countWithin, spread, type Density } from './density';

const density: Density = {
  buckets: [
    { from: 0n, to: 100n, count: 10 },
    { from: 100n, to: 300n, count: 40 },
    { from: 1_000n, to: 1_001n, count: 7 },
  ],
  count: 57,
  first: 0n,
  last: 1_001n,
  isCut: false,
};

describe('density', () => {
  it('counts parts of buckets', () => {
    expect(countWithin(density, 0n, 2_000n)).toBe(57);
    expect(countWithin(density, 50n, 200n)).toBe(25);
    expect(countWithin(density, 400n, 900n)).toBe(0);
  });

  it('is spread over columns without gain or loss', () => {
    const columns = spread(density, 40, (instant) => Number(instant) / 30);
    expect(columns.reduce((a, b) => a + b, 0)).toBeCloseTo(57, 9);
    expect(columns[0]).toBeCloseTo(3, 9);
    expect(columns[5]).toBeCloseTo(6, 9);
    expect(columns[33]).toBeCloseTo(7, 9);
  });
});
