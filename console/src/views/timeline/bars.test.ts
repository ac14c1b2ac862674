import { describe, expect, it } from 'vitest';
import { heights, share } from './bars';
import { boxAround, classOf, resolutionOf } from './cells';

describe('the scale of counts', () => {
  it('is linear from zero, with round lines, and reaches above the most', () => {
    for (const most of [1, 7, 42, 907, 1_000, 12_345]) {
      const scale = heights(most, false, 150);
      expect(scale.max).toBeGreaterThanOrEqual(most);
      expect(scale.ticks.at(-1)).toBe(scale.max);
      expect(share(scale, 0)).toBe(0);
      expect(share(scale, most / 2) * 2).toBeCloseTo(share(scale, most), 9);
    }
    expect(heights(907, false, 150).ticks).toEqual([200, 400, 600, 800, 1_000]);
    expect(heights(9, false, 20).ticks).toEqual([9]);
    expect(heights(0, false, 150).max).toBeGreaterThan(0);
  });

  it('is logarithmic on request, and nothing is still nothing', () => {
    const scale = heights(12_345, true, 200);
    expect(scale.ticks).toEqual([1, 10, 100, 1_000, 10_000, 100_000]);
    expect([share(scale, 0), share(scale, scale.max)]).toEqual([0, 1]);
    expect(share(scale, 10)).toBeGreaterThan(share(scale, 1));
  });
});

describe('cells of the earth', () => {
  it('are as fine as there is room for', () => {
    expect([0.001, 0.3, 7, 100].map(resolutionOf)).toEqual([0.01, 0.5, 8, 30]);
  });

  it('are shaded by powers of ten', () => {
    expect([1, 9, 10, 999, 1_000, 5_000_000].map(classOf)).toEqual([0, 0, 1, 2, 3, 4]);
  });

  it('have a box around them, across the antimeridian where that is smaller', () => {
    expect(boxAround([])).toBeNull();
    expect(
      boxAround([
        { lat: 10, lon: -80 },
        { lat: 50, lon: 20 },
        { lat: 30, lon: -30 },
      ]),
    ).toEqual({
      west: -80,
      east: 20,
      south: 10,
      north: 50,
    });
    expect(
      boxAround([
        { lat: -18, lon: 178 },
        { lat: -17, lon: -175 },
      ]),
    ).toMatchObject({ west: 178, east: -175 });
  });
});
