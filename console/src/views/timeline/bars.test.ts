import { describe, expect, it, vi } from 'vitest';
import { ALL } from '../../lib/events/filter';
import { barSpans, heights, laneHeights, paintBars, paintTicks, paintUncounted, share } from '../../lib/events/bars';
import type { Counts } from '../../lib/events/counts';
import { fitted } from '../../lib/events/scale';
import { stepOf } from '../../lib/events/steps';
import { sayScale } from './over-paint';
import type { Frame } from './axis/picture';
import { boxAround, CellCounter, classOf, classesOf, resolutionOf } from './cells';

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

describe('time that is not counted yet', () => {
  it('is covered, all of it where nothing is counted, and none in the end', () => {
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

describe('the numbers of a scale', () => {
  it('stand beyond their lines, on a ground of their own: a bar that ends at one is whole', () => {
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

describe('a bar', () => {
  const scale = fitted(0n, 1_000n, 1_000, 0);
  const bucket = { from: 200n, to: 300n, count: 7 };
  type Extent = { from: bigint; to: bigint } | null;
  const spans = (extent: Extent) =>
    barSpans({ scale, extent }, bucket).map(({ x, width, alpha }) => [Math.round(x), Math.round(x + width), alpha < 1]);

  // A pixel is left between it and the next.
  it('is as wide as its stretch', () => {
    expect(spans(null)).toEqual([[200, 299, false]]);
    expect(spans({ from: 0n, to: 1_000n })).toEqual([[200, 299, false]]);
  });

  it('is so also where events begin or end within it: how wide it is says no number', () => {
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

  it('has events somewhere, also if they are one at its end', () => {
    expect(spans({ from: 250n, to: 250n })).toContainEqual([250, 251, false]);
    expect(spans({ from: 300n, to: 300n })).toEqual([
      [200, 298, true],
      [298, 299, false],
    ]);
  });

  it('is drawn as high in all of its width, and fainter where there are no events yet', () => {
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

describe('the scales of lanes', () => {
  it('is one for all that have a name, and another for the rest', () => {
    const scales = laneHeights([12, 90, 31], 54_000, false, 26);
    expect([0, 1, 2, 3].map((lane) => scales(lane).max)).toEqual([90, 90, 90, 60_000]);
  });

  it('is the same for the rest where that is not more than the others', () => {
    const scales = laneHeights([12, 90, 31], 3, false, 26);
    expect([0, 1, 2, 3].map((lane) => scales(lane).max)).toEqual([90, 90, 90, 90]);
  });

  it('is said once where it is shared, in the lane on top', () => {
    const shared = laneHeights([12, 90, 31], 3, false, 26);
    expect([...sayScale([2, 0, 1, 3], shared)]).toEqual([2]);
    const rest = laneHeights([12, 90, 31], 54_000, false, 26);
    expect([...sayScale([2, 0, 1, 3], rest)]).toEqual([2, 3]);
    expect([...sayScale([], rest)]).toEqual([]);
  });

  it('is the same for all where nothing is left over', () => {
    const scales = laneHeights([907, 4], null, false, 150);
    expect([0, 1, 2].map((lane) => scales(lane).max)).toEqual([1_000, 1_000, 1_000]);
    expect(laneHeights([], 54, true, 150)(0).max).toBe(100);
  });
});

describe('cells of the earth', () => {
  it('are as fine as there is room for', () => {
    expect([0.001, 0.3, 7, 100].map(resolutionOf)).toEqual([0.01, 0.5, 8, 30]);
  });

  it('are shaded from the smallest count to the largest', () => {
    const check = (counts: number[], expected: number[]) => expect(classesOf(counts)).toEqual(expected);
    check([], [1, 2, 5, 10, 20]);
    check([1, 12, 60], [1, 2, 5, 10, 20]);
    check([1, 12, 80], [1, 5, 10, 20, 50]);
    check([1, 12], [1, 2, 5, 10, 20]);
    check([1, 907], [1, 5, 20, 100, 500]);
    check([1, 3_000], [1, 20, 100, 500, 2_000]);
    // Not one class for the last hundred of two thousand, and most cells in two others.
    check([1, 2_108], [1, 10, 50, 200, 1_000]);
    check([40, 5_000], [1, 200, 500, 1_000, 2_000]);
    check([1, 9_000_000], [1, 5_000, 50_000, 500_000, 5_000_000]);
    // Not all of one shade where all have many.
    const many = classesOf([23_000, 99_000]);
    expect([23_000, 40_000, 99_000].map((count) => classOf(count, many))).toEqual([0, 1, 3]);
    check([1_900, 2_200, 4_200], [1_500, 2_000, 2_500, 3_000, 3_500]);
    check([327_346], [10_000, 20_000, 50_000, 100_000, 200_000]);
    expect([1, 9, 10, 999].map((count) => classOf(count, [5, 10, 20, 50, 100]))).toEqual([0, 0, 1, 4]);
  });

  it('are counted once for what is in sight, and again once that has changed', async () => {
    let asked = 0;
    vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/' });
    vi.stubGlobal('fetch', () => {
      asked += 1;
      const groups = [{ key: '0,0,10,10', count: 7 }];
      return Promise.resolve(new Response(JSON.stringify({ groups, count: 7 })));
    });
    const counter = new CellCounter();
    const question = { timeline: 'demo', filter: ALL, box: null };
    const part = { west: 0, south: 0, east: 10, north: 10 };
    const { signal } = new AbortController();
    const read = async (version: number, to: bigint, within: typeof part | null): Promise<number> => {
      const range = { from: 0n, to };
      await counter.read({ question, version, range, resolution: 10, within }, signal, () => {});
      return asked;
    };
    expect(await read(1, 5n, null)).toBe(1);
    // All of the earth has every part of it.
    expect([await read(1, 5n, null), await read(1, 5n, part)]).toEqual([1, 1]);
    expect([await read(1, 6n, part), await read(1, 6n, part), await read(1, 6n, null)]).toEqual([2, 2, 3]);
    expect(await read(2, 6n, null)).toBe(4);
    vi.unstubAllGlobals();
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
