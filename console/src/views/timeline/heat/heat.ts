/**
 * Computes the heat layer of the map: the density of events, or a numeric attribute. Densities are events per area in
 * km², so neither the position of a cell nor the zoom level changes the meaning of a color. Adding up blurred pixels,
 * as other heat maps do, would depend on the zoom, and its legend could not have numbers.
 */
import type { EventStore } from '../../../lib/events/store';
import { niceStep, trimmed } from '../../../lib/chart/nice';
import type { Cell } from '../cells/cells';
import { member } from '../groups/groups';
import { numberOf, numberText } from '../attributes/numbers';

/** Content of the layer: the density of events, or the mean or highest value of an attribute. */
const HEATS = ['events', 'mean', 'highest'] as const;
export type Heat = (typeof HEATS)[number];

export function heatOf(text: string | null): Heat | null {
  return HEATS.find((heat) => heat === text) ?? null;
}

const EARTH_RADIUS_KM = 6_371;
const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Returns the area in km² of a cell that starts at a latitude. */
export function areaOf(south: number, resolution: number): number {
  const north = Math.min(90, south + resolution);
  return EARTH_RADIUS_KM ** 2 * radians(resolution) * (Math.sin(radians(north)) - Math.sin(radians(south)));
}

/** Returns the reference area in km²: the power of ten closest to a cell at the equator. */
export function unitOf(resolution: number): number {
  return 10 ** Math.round(Math.log10(areaOf(0, resolution)));
}

/** Values by cell of a grid, with row and column counted from the south-west. Empty cells have no entry. */
export interface Grid {
  resolution: number;
  values: ReadonlyMap<number, number>;
  /** Proximity of each cell to one with events: 1 in it, and less in its neighbors. All cells are 1 without it. */
  nearness?: ReadonlyMap<number, number>;
}

/** Row stride of a cell key; larger than the number of columns of the finest grid. */
const ROW = 2 ** 20;
const wrapped = (column: number, resolution: number): number => {
  const columns = Math.round(360 / resolution);
  return ((column % columns) + columns) % columns;
};
const keyOf = (row: number, column: number, resolution: number): number => row * ROW + wrapped(column, resolution);

/** Returns the row of a latitude, or the column of a longitude. */
const rowOf = (lat: number, resolution: number): number => Math.floor((lat + 90) / resolution + 1e-9);
const columnOf = (lon: number, resolution: number): number => Math.floor((lon + 180) / resolution + 1e-9);

/** Smoothing weights by offset: half for the cell itself and a quarter for each neighbor, per axis. */
const WEIGHTS = [
  [-1, 0.25],
  [0, 0.5],
  [1, 0.25],
] as const;
/** Share of events that stay in the cell. */
const MIDDLE = 0.25;

/** Returns the events per reference area, smoothed over neighboring cells. The total is preserved. */
export function densities(cells: readonly Pick<Cell, 'south' | 'west' | 'count'>[], resolution: number): Grid {
  const counts = new Map<number, number>();
  const nearness = new Map<number, number>();
  const rows = Math.ceil(180 / resolution - 1e-9);
  for (const { south, west, count } of cells)
    for (const [up, high] of WEIGHTS)
      for (const [right, wide] of WEIGHTS) {
        // Events that would cross a pole stay on this side.
        const row = Math.min(Math.max(rowOf(south, resolution) + up, 0), rows - 1);
        const key = keyOf(row, columnOf(west, resolution) + right, resolution);
        counts.set(key, (counts.get(key) ?? 0) + count * high * wide);
        nearness.set(key, Math.max(nearness.get(key) ?? 0, (high * wide) / MIDDLE));
      }
  const unit = unitOf(resolution);
  const values = new Map<number, number>();
  for (const [key, count] of counts)
    values.set(key, (count * unit) / areaOf(Math.floor(key / ROW) * resolution - 90, resolution));
  return { resolution, values, nearness };
}

/** Returns the mean or highest value of an attribute in each cell, from the events that have one. */
export function valuesIn(store: EventStore, part: [number, number], key: string, heat: Heat, resolution: number): Grid {
  const sums = new Map<number, { sum: number; count: number; most: number }>();
  for (let row = part[0]; row < part[1]; row += 1) {
    const [lat, lon] = [store.lats[row] ?? NaN, store.lons[row] ?? NaN];
    const value = numberOf(member(store.bodies[row]?.attributes ?? {}, key));
    if (Number.isNaN(lat) || value === null) continue;
    const cell = keyOf(rowOf(lat, resolution), columnOf(lon, resolution), resolution);
    const { sum, count, most } = sums.get(cell) ?? { sum: 0, count: 0, most: -Infinity };
    sums.set(cell, { sum: sum + value, count: count + 1, most: Math.max(most, value) });
  }
  const values = [...sums].map(
    ([cell, { sum, count, most }]) => [cell, heat === 'highest' ? most : sum / count] as const,
  );
  return { resolution, values: new Map(values) };
}

/** Counts the events of a store by cell. */
export function cellsOf(store: EventStore, part: [number, number], resolution: number): Cell[] {
  const counts = new Map<number, number>();
  for (let row = part[0]; row < part[1]; row += 1) {
    const [lat, lon] = [store.lats[row] ?? NaN, store.lons[row] ?? NaN];
    if (Number.isNaN(lat)) continue;
    const cell = keyOf(rowOf(lat, resolution), columnOf(lon, resolution), resolution);
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  return [...counts].map(([key, count]) => {
    const [south, west] = [Math.floor(key / ROW) * resolution - 90, (key % ROW) * resolution - 180];
    return { key: String(key), south, west, north: south + resolution, east: west + resolution, count };
  });
}

/** Returns the value of the cell at a place; null if there is none. */
export function valueAt({ resolution, values }: Grid, lat: number, lon: number): number | null {
  return values.get(keyOf(rowOf(lat, resolution), columnOf(lon, resolution), resolution)) ?? null;
}

/** Interpolates bilinearly between the centers of four cells. */
function between(resolution: number, lat: number, lon: number, at: (key: number) => number): number {
  const [y, x] = [(lat + 90) / resolution - 0.5, (lon + 180) / resolution - 0.5];
  const [row, column] = [Math.floor(y), Math.floor(x)];
  const of = (up: number, right: number): number => at(keyOf(row + up, column + right, resolution));
  const [high, wide] = [y - row, x - column];
  const low = of(0, 0) * (1 - wide) + of(0, 1) * wide;
  return low * (1 - high) + (of(1, 0) * (1 - wide) + of(1, 1) * wide) * high;
}

/** Interpolates with a quadratic spline over three cells per axis, which has neither edges nor corners. */
function around(resolution: number, lat: number, lon: number, at: (key: number) => number): number {
  const [y, x] = [(lat + 90) / resolution, (lon + 180) / resolution];
  const [row, column] = [Math.floor(y), Math.floor(x)];
  /** Weights of the previous, the own and the next cell, at a fraction of the own cell. */
  const weights = (part: number): number[] => [(1 - part) ** 2 / 2, 0.75 - (part - 0.5) ** 2, part ** 2 / 2];
  const wide = weights(x - column);
  return weights(y - row).reduce((sum, high, up) => {
    const inRow = wide.reduce(
      (own, weight, right) => own + weight * at(keyOf(row + up - 1, column + right - 1, resolution)),
      0,
    );
    return sum + high * inRow;
  }, 0);
}

/** Value range of the colors, and the numbers of the legend. */
export interface HeatScale {
  low: number;
  high: number;
  isLog: boolean;
  ticks: readonly number[];
}

/** Densities that differ by at least this factor use a logarithmic scale. */
const LINEAR_MAX = 20;
/** Densities more than this many decades below the maximum have the lowest color. */
const DECADES_MAX = 4;
/** Minimum distance of a tick from the last one, as a share of the scale, so that labels do not overlap. */
const TICK_GAP = 0.24;

/** Returns a scale of densities with round bounds; null without densities. */
export function densityScale({ values, nearness }: Grid): HeatScale | null {
  // Ignore neighbors of cells with events: their low densities would stretch the scale.
  const found = [...values].filter(([key]) => (nearness?.get(key) ?? 1) === 1).map(([, value]) => value);
  if (found.length === 0) return null;
  const [least, most] = [Math.min(...found), Math.max(...found)];
  const high = niceStep(most);
  if (most / least < LINEAR_MAX) return { low: 0, high, isLog: false, ticks: [0, trimmed(high / 2), high] };
  const bottom = Math.max(Math.floor(Math.log10(least)), Math.ceil(Math.log10(high)) - DECADES_MAX);
  const scale = { low: 10 ** bottom, high, isLog: true };
  const ticks = Array.from({ length: DECADES_MAX + 1 }, (_, index) => trimmed(10 ** (bottom + index)));
  return { ...scale, ticks: [...ticks.filter((tick) => shareOf({ ...scale, ticks }, tick) <= 1 - TICK_GAP), high] };
}

/** Returns a scale of attribute values, which need not start at zero; null without values. */
export function valueScale({ values }: Grid): HeatScale | null {
  const found = [...values.values()];
  if (found.length === 0) return null;
  const [least, most] = [Math.min(...found), Math.max(...found)];
  const step = niceStep((most - least || Math.abs(most) || 1) / 4);
  const [low, high] = [trimmed(Math.floor(least / step) * step), trimmed(Math.ceil(most / step) * step)];
  if (low === high) return { low, high: trimmed(low + step), isLog: false, ticks: [low, trimmed(low + step)] };
  return { low, high, isLog: false, ticks: [low, trimmed((low + high) / 2), high] };
}

/** Width of a digit, of a comma or point, and the gap between two labels, in pixels. */
const [DIGIT, POINT, BETWEEN] = [7, 3.2, 5];

/** Returns the ticks that fit a scale of a given width: both ends, and those between that do not overlap. */
export function roomyTicks(scale: HeatScale, pixels: number): readonly number[] {
  const wide = (tick: number): number => {
    const text = numberText(tick);
    const digits = text.replace(/[.,]/g, '').length;
    return digits * DIGIT + (text.length - digits) * POINT;
  };
  const { ticks } = scale;
  const [first, last] = [ticks[0]!, ticks.at(-1)!];
  let free = pixels - wide(last) - BETWEEN;
  // Larger values first, since they matter more.
  const spaced = ticks.slice(1, -1).reduceRight<number[]>((found, tick) => {
    const [middle, half] = [shareOf(scale, tick) * pixels, wide(tick) / 2];
    if (middle + half > free || middle - half < wide(first) + BETWEEN) return found;
    free = middle - half - BETWEEN;
    return [tick, ...found];
  }, []);
  return [first, ...spaced, last];
}

/** Returns the position of a value on a scale, from 0 to 1. */
export function shareOf({ low, high, isLog }: HeatScale, value: number): number {
  const share = isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Math.min(Math.max(share, 0), 1);
}

/**
 * Nearness from which on the color is opaque, up to the center of the next cell. The color already shows the density,
 * so opacity must not show it again.
 */
const OPAQUE_NEARNESS = 0.4375;

/**
 * Returns the scale position and the opacity at a place; null if there is nothing. Interpolates scale positions instead
 * of values, which would produce an edge on a logarithmic scale. The color fades out beyond the neighbors of cells with
 * events.
 */
export function interpolatedAt(
  grid: Grid,
  scale: HeatScale,
  lat: number,
  lon: number,
): { share: number; part: number } | null {
  const { resolution, values, nearness } = grid;
  const shareIn = (key: number): number => {
    const value = values.get(key);
    return value === undefined ? 0 : shareOf(scale, value);
  };
  const share = between(resolution, lat, lon, shareIn);
  const isIn = (key: number): number => nearness?.get(key) ?? (values.has(key) ? 1 : 0);
  const part = Math.min(1, around(resolution, lat, lon, isIn) / OPAQUE_NEARNESS);
  return part > 0 ? { share, part } : null;
}
