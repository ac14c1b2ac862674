import { describe, expect, it } from 'vitest';
import { barSpans, heights, laneHeights, paintBars, paintTicks, paintUncounted, share, type Frame } from './bars';
import type { Counts } from '../events/counts';
import { fitted } from './scale';
import { stepOf } from '../events/steps';

describe('count scale', () => {
  it('is linear from zero, with round grid lines, and covers the maximum', () => {
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

  it('is logarithmic on request, with zero height for zero', () => {
    const scale = heights(12_345, true, 200);
    expect(scale.ticks).toEqual([1, 10, 100, 1_000, 10_000, 100_000]);
    expect([share(scale, 0), share(scale, scale.max)]).toEqual([0, 1]);
    expect(share(scale, 10)).toBeGreaterThan(share(scale, 1));
  });
});

describe('uncounted time', () => {
  it('is shaded completely at first and not at all in the end', () => {
    const covered = (until: bigint): number[][] => {
      const drawn: number[][] = [];
      const context = { fillRect: (...rectangle: number[]) => drawn.push(rectangle) };
      const scale = fitted(0n, 1_000n, 1_000, 0);
      const frame = { context, palette: {}, scale, height: 200, base: 100 } as unknown as Frame;
      const step = stepOf(1e6);
      paintUncounted(frame, { step, from: 0n, to: 1_000n, until, buckets: [], count: 0 }, 100, 70);
      return drawn.map((rectangle) => rectangle.map(Math.round));
    };
    expect(covered(0n)).toEqual([[0, 30, 1_000, 70]]);
    expect(covered(250n)).toEqual([[250, 30, 750, 70]]);
    expect(covered(1_000n)).toEqual([]);
  });
});

describe('scale labels', () => {
  it('are drawn beyond their lines, so that a bar ending at a line is not covered', () => {
    const grounds = (base: number, room: number): number[][] => {
      const drawn: number[][] = [];
      const context = {
        measureText: () => ({ width: 20 }),
        fillText: () => {},
        fillRect: (...rectangle: number[]) => drawn.push(rectangle),
      };
      const frame = { context, palette: {}, scale: fitted(0n, 1_000n, 1_000, 0) } as unknown as Frame;
      paintTicks(frame, heights(2, false, 100), base, room);
      return drawn.map(([, top, , tall]) => [top!, top! + tall!]);
    };
    // The lines are at 150 and 100, and 250 and 300.
    expect(grounds(200, 100)).toEqual([
      [138, 150],
      [88, 100],
    ]);
    expect(grounds(200, -100)).toEqual([
      [251, 263],
      [301, 313],
    ]);
  });
});

describe('bar', () => {
  const scale = fitted(0n, 1_000n, 1_000, 0);
  const bucket = { from: 200n, to: 300n, count: 7 };
  type Extent = { from: bigint; to: bigint } | null;
  const spans = (extent: Extent) =>
    barSpans({ scale, extent }, bucket).map(({ x, width, alpha }) => [Math.round(x), Math.round(x + width), alpha < 1]);

  // One pixel separates it from the next bar.
  it('is as wide as its bucket', () => {
    expect(spans(null)).toEqual([[200, 299, false]]);
    expect(spans({ from: 0n, to: 1_000n })).toEqual([[200, 299, false]]);
  });

  it('keeps its width if events begin or end within its bucket', () => {
    expect(spans({ from: 260n, to: 900n })).toEqual([
      [200, 260, true],
      [260, 299, false],
    ]);
    expect(spans({ from: 0n, to: 220n })).toEqual([
      [200, 220, false],
      [220, 299, true],
    ]);
    expect(spans({ from: 210n, to: 220n })).toEqual([
      [200, 210, true],
      [210, 220, false],
      [220, 299, true],
    ]);
  });

  it('has a section with events, even for a single event at its end', () => {
    expect(spans({ from: 250n, to: 250n })).toContainEqual([250, 251, false]);
    expect(spans({ from: 300n, to: 300n })).toEqual([
      [200, 298, true],
      [298, 299, false],
    ]);
  });

  it('has one height, and is fainter where there are no events', () => {
    const drawn: { x: number; width: number; top: number; high: number; alpha: number }[] = [];
    const context = {
      globalAlpha: 1,
      fillRect: (x: number, top: number, width: number, high: number) =>
        void drawn.push({ x: Math.round(x), width: Math.round(width), top, high, alpha: context.globalAlpha }),
    };
    const counts = { buckets: [bucket], from: 0n, to: 1_000n, until: 1_000n, count: 7 } as unknown as Counts;
    const frame = { context, palette: {}, scale, extent: { from: 0n, to: 240n } } as unknown as Frame;
    paintBars(frame, counts, [], '#000', { max: 14, isLog: false, ticks: [] }, 200, 100);
    expect(drawn.map(({ x, width, top, high }) => [x, width, top, high])).toEqual([
      [200, 40, 150, 50],
      [240, 59, 150, 50],
    ]);
    expect(drawn[0]!.alpha).toBe(1);
    expect(drawn[1]!.alpha).toBeLessThan(0.6);
    expect(context.globalAlpha).toBe(1);
  });
});

describe('lane scales', () => {
  it('are shared by named lanes, with another for the remainder', () => {
    const scales = laneHeights([12, 90, 31], 54_000, false, 26);
    expect([0, 1, 2, 3].map((lane) => scales(lane).max)).toEqual([90, 90, 90, 60_000]);
  });

  it('are shared with the remainder if it is not higher', () => {
    const scales = laneHeights([12, 90, 31], 3, false, 26);
    expect([0, 1, 2, 3].map((lane) => scales(lane).max)).toEqual([90, 90, 90, 90]);
  });

  it('are shared by all lanes without a remainder', () => {
    const scales = laneHeights([907, 4], null, false, 150);
    expect([0, 1, 2].map((lane) => scales(lane).max)).toEqual([1_000, 1_000, 1_000]);
    expect(laneHeights([], 54, true, 150)(0).max).toBe(100);
  });
});
