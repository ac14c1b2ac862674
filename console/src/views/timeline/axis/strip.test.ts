import { describe, expect, it } from 'vitest';
import { LAST, paddedScale, panned, xOf, zoomed } from '../../../lib/chart/scale';
import { partOf, stripOf } from './strip';

const YEAR = 31_557_600_000_000n;
const ALL = { from: -2_600n * YEAR, to: 80n * YEAR };

describe('overview strip', () => {
  it('aligns every time with the axis if everything is in view', () => {
    for (const width of [320, 390, 1_180, 2_400]) {
      for (const extent of [ALL, { from: 5n, to: 5n }, { from: 0n, to: LAST + 40n * YEAR }]) {
        // The view after `fit`.
        const axis = paddedScale(extent.from, extent.to, width);
        const strip = stripOf(extent, width);
        for (const time of [extent.from, extent.to, (extent.from + extent.to) / 2n])
          expect(xOf(strip, time)).toBeCloseTo(xOf(axis, time), 6);
        expect(partOf(strip, axis)).toMatchObject({ isAll: true });
      }
    }
  });

  it('frames the visible part with a minimum width', () => {
    const strip = stripOf(ALL, 1_000);
    const near = zoomed(paddedScale(ALL.from, ALL.to, 1_000), 0.25, 500);
    expect(partOf(strip, near).isAll).toBe(false);
    expect(partOf(strip, near).from).toBeCloseTo(375, 0);
    expect(partOf(strip, near).wide).toBeCloseTo(250, 0);
    expect(partOf(strip, zoomed(near, 1e-9, 999))).toMatchObject({ isAll: false, wide: 6 });
    // A view beyond the strip has its frame at the end.
    expect(partOf(strip, panned(near, 20_000))).toMatchObject({ from: 994, wide: 6, isAll: false });
  });

  it('has no frame if more than everything is in view', () => {
    const axis = paddedScale(ALL.from, ALL.to, 1_000);
    expect(partOf(stripOf(ALL, 1_000), zoomed(axis, 1.4, 500)).isAll).toBe(true);
    expect(partOf(stripOf(ALL, 1_000), panned(axis, 60)).isAll).toBe(false);
  });
});
