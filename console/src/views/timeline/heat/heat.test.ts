import { describe, expect, it } from 'vitest';
import type { EventBody } from '../../../lib/events/store';
import { EventStore } from '../../../lib/events/store';
import {
  areaOf,
  cellsOf,
  densities,
  densityScale,
  heatOf,
  roomyTicks,
  shareOf,
  interpolatedAt,
  unitOf,
  valueAt,
  valueScale,
  valuesIn,
  type Grid,
} from './heat';

const storeOf = (...events: [lat: number, lon: number, wind?: unknown][]): EventStore => {
  const bodies = events.map(([lat, lon, wind], index): EventBody => ({
    event_id: `event-${index}`,
    time: `2001-01-01T00:00:${String(index).padStart(2, '0')}Z`,
    description: '',
    geo: { lat, lon },
    attributes: wind === undefined ? {} : { wind },
  }));
  const store = new EventStore();
  for (const body of bodies) store.push(body);
  return store;
};
const gridOf = (...values: number[]): Grid => ({
  resolution: 10,
  values: new Map(values.map((value, index) => [index, value])),
});

describe('areas', () => {
  it('match the part of the sphere', () => {
    const rows = Array.from({ length: 18 }, (_, row) => areaOf(row * 10 - 90, 10));
    const whole = rows.reduce((sum, area) => sum + area * 36, 0);
    expect(whole / (4 * Math.PI * 6_371 ** 2)).toBeCloseTo(1, 9);
    expect(areaOf(80, 10)).toBeLessThan(areaOf(0, 10) / 10);
  });

  it('use a power of ten near the size of a cell at the equator', () => {
    expect([10, 5, 2, 0.5, 0.1, 0.01].map(unitOf)).toEqual([1e6, 1e5, 1e5, 1e3, 100, 1]);
  });
});

describe('densities', () => {
  /** Total number of events in a grid. */
  const total = ({ resolution, values }: Grid): number =>
    [...values].reduce((sum, [key, value]) => {
      const south = Math.floor(key / 2 ** 20) * resolution - 90;
      return sum + (value * areaOf(south, resolution)) / unitOf(resolution);
    }, 0);

  it('lose no event at a pole or at the edge of the map', () => {
    for (const [south, west] of [
      [0, 0],
      [80, 0],
      [-90, 170],
      [20, -180],
      [-90, -180],
    ] as const)
      expect(total(densities([{ south, west, count: 40 }], 10)), `${south}, ${west}`).toBeCloseTo(40, 9);
  });

  it('peak in the middle of their cell and continue across the antimeridian', () => {
    const grid = densities([{ south: 20, west: 170, count: 16 }], 10);
    const [middle, east, far] = [valueAt(grid, 25, 175)!, valueAt(grid, 25, -175)!, valueAt(grid, 25, 0)];
    // A quarter of the events stays in the cell.
    expect(middle).toBeCloseTo((4 * unitOf(10)) / areaOf(20, 10), 9);
    expect(east).toBeCloseTo(middle / 2, 9);
    expect(far).toBeNull();
  });

  it('are higher for the same number of events on a smaller area', () => {
    const grid = densities(
      [
        { south: 0, west: 0, count: 9 },
        { south: 60, west: 100, count: 9 },
      ],
      10,
    );
    expect(valueAt(grid, 65, 105)!).toBeGreaterThan(valueAt(grid, 5, 5)! * 1.9);
  });
});

describe('cells of loaded events', () => {
  it('match those of the service', () => {
    const store = storeOf([28.6, -80.6], [28.1, -84.9], [31, -80.1], [-33.5, 179.9]);
    const cells = cellsOf(store, [0, store.count], 5).map(({ south, west, north, east, count }) => [
      [south, west, north, east],
      count,
    ]);
    expect(cells).toEqual([
      [[25, -85, 30, -80], 2],
      [[30, -85, 35, -80], 1],
      [[-35, 175, -30, 180], 1],
    ]);
    expect(cellsOf(store, [2, 3], 5)).toHaveLength(1);
  });

  it('average the numbers of events that have one', () => {
    const store = storeOf([28, -81, 30], [28, -82, '50'], [28, -83, 'strong'], [28, -84], [31, -81, -4]);
    const at = (heat: 'mean' | 'highest', lat: number): number | null =>
      valueAt(valuesIn(store, [0, store.count], 'wind', heat, 5), lat, -82);
    expect([at('mean', 28), at('highest', 28), at('mean', 31), at('mean', 40)]).toEqual([40, 50, -4, null]);
  });
});

describe('heat scales', () => {
  it('are logarithmic for widely spread densities', () => {
    expect(densityScale(gridOf(0.3, 3))).toEqual({ low: 0, high: 5, isLog: false, ticks: [0, 2.5, 5] });
    expect(densityScale(gridOf(0.3, 900))).toEqual({
      low: 0.1,
      high: 1_000,
      isLog: true,
      ticks: [0.1, 1, 10, 100, 1_000],
    });
    // Values below a ten-thousandth of the maximum share the lowest color, and the label 100,000 would overlap 200,000.
    expect(densityScale(gridOf(0.3, 180_000))).toMatchObject({ low: 100, ticks: [100, 1_000, 10_000, 200_000] });
    expect(densityScale(gridOf())).toBeNull();
  });

  it('of densities start at the cells with events', () => {
    // Between 900 and 1,000 events in each cell. Their neighbors have a quarter of that and get the lowest color.
    const cells = Array.from({ length: 6 }, (_, index) => ({ south: 0, west: index * 10, count: 900 + index * 20 }));
    const { low, isLog } = densityScale(densities(cells, 10))!;
    expect([low, isLog]).toEqual([0, false]);
    const wide = densityScale(densities([...cells, { south: 0, west: 100, count: 20 }], 10))!;
    expect(wide.isLog).toBe(true);
    expect(wide.ticks.length).toBeLessThan(5);
  });

  it('of numbers have round bounds and need not start at zero', () => {
    expect(valueScale(gridOf(882, 1_021))).toEqual({ low: 850, high: 1_050, isLog: false, ticks: [850, 950, 1_050] });
    expect(valueScale(gridOf(-4, -4))?.ticks).toHaveLength(2);
    expect(valueScale(gridOf())).toBeNull();
  });

  it('omit labels that do not fit', () => {
    const wide = densityScale(gridOf(0.3, 900))!;
    expect(roomyTicks(wide, 220)).toEqual(wide.ticks);
    expect(roomyTicks(wide, 104)).toEqual([0.1, 1, 10, 1_000]);
    expect(roomyTicks(densityScale(gridOf(0.3, 180_000))!, 104)).toEqual([100, 200_000]);
    expect(roomyTicks(densityScale(gridOf(0.3, 3))!, 104)).toEqual([0, 2.5, 5]);
  });

  it('fade out without an edge', () => {
    const few = { south: 0, west: -100, count: 1 };
    const grid = densities([{ south: 0, west: 0, count: 100_000 }, few], 10);
    const scale = densityScale(grid)!;
    expect(scale.isLog).toBe(true);
    const parts = Array.from({ length: 27 }, (_, step) => interpolatedAt(grid, scale, 5, 5 + step)?.part ?? 0);
    // The color is full up to the next cell and gone beyond the one after it, without a steep step in between.
    expect(parts[0]).toBe(1);
    expect(parts[10]).toBeCloseTo(1, 9);
    expect(parts.slice(25)).toEqual([0, 0]);
    const falls = parts.slice(11).map((part, index) => parts[index + 10]! - part);
    for (const fall of falls) expect(fall).toBeLessThan(0.11);
    const jumps = falls.slice(1).map((fall, index) => Math.abs(fall - falls[index]!));
    for (const jump of jumps.slice(1)) expect(jump).toBeLessThan(0.02);
    expect(interpolatedAt(grid, scale, 5, 5)!.share).toBeCloseTo(shareOf(scale, valueAt(grid, 5, 5)!), 9);
  });

  it('use the full lowest color for a single event, on a linear scale, too', () => {
    const cells = [
      { south: 0, west: 0, count: 1 },
      { south: 0, west: 100, count: 18 },
    ];
    const grid = densities(cells, 10);
    const scale = densityScale(grid)!;
    expect([scale.isLog, interpolatedAt(grid, scale, 5, 5)!.part]).toEqual([false, 1]);
  });

  it('draw a single event without corners', () => {
    const cells = [
      { south: 0, west: 0, count: 1 },
      { south: 0, west: 100, count: 100_000 },
    ];
    const grid = densities(cells, 10);
    const scale = densityScale(grid)!;
    /** Distance from the event at which half of the color is left. */
    const reach = (up: number, right: number): number =>
      Array.from({ length: 60 }, (_, step) => step / 2).find(
        (far) => (interpolatedAt(grid, scale, 5 + up * far, 5 + right * far)?.part ?? 0) < 0.5,
      )!;
    const diagonal = Math.SQRT1_2;
    expect(reach(diagonal, diagonal) / reach(0, 1)).toBeGreaterThan(0.85);
    expect(reach(diagonal, diagonal) / reach(0, 1)).toBeLessThan(1.15);
  });

  it('return the position of a value', () => {
    const log = { low: 1, high: 100, isLog: true, ticks: [] };
    expect([0.5, 1, 10, 100, 200].map((value) => shareOf(log, value))).toEqual([0, 0, 0.5, 1, 1]);
    expect(shareOf({ low: 850, high: 1_050, isLog: false, ticks: [] }, 950)).toBe(0.5);
  });
});

it('a heat mode is parsed only if it exists', () => {
  expect(['events', 'mean', 'highest', 'most', null].map(heatOf)).toEqual(['events', 'mean', 'highest', null, null]);
});
