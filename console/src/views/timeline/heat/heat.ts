/**
 * How densely events lie on the earth, or what their numbers are there, for the heat layer of the map: cells become
 * events on an area of so many km², so that neither where a cell is nor how far the map is zoomed changes what a color
 * says. Blots of pixels, as other heat maps add them up, would change with the zoom, and no legend could have numbers.
 */
import type { EventStore } from '../../../lib/events/store';
import { niceStep, trimmed } from '../../../lib/chart/nice';
import type { Cell } from '../cells/cells';
import { member } from '../groups/groups';
import { numberOf, numberText } from '../attributes/numbers';

/** What the layer shows: how many events, or what a number of theirs is on average or at its highest. */
export const HEATS = ['events', 'mean', 'highest'] as const;
export type Heat = (typeof HEATS)[number];

export function heatOf(text: string | null): Heat | null {
  return HEATS.find((heat) => heat === text) ?? null;
}

const EARTH_RADIUS_KM = 6_371;
const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Returns how many km² a cell of so many degrees has that begins at a latitude. */
export function areaOf(south: number, resolution: number): number {
  const north = Math.min(90, south + resolution);
  return EARTH_RADIUS_KM ** 2 * radians(resolution) * (Math.sin(radians(north)) - Math.sin(radians(south)));
}

/** Returns the area that events are counted on, in km²: the power of ten that is next to a cell on the equator. */
export function unitOf(resolution: number): number {
  return 10 ** Math.round(Math.log10(areaOf(0, resolution)));
}

/** A value for each cell of a grid, by row and column from the south-west: those that are missing have none. */
export interface Grid {
  resolution: number;
  values: ReadonlyMap<number, number>;
  /** How near each cell is to one that has events: 1 in it, and less beside it. Without it each is one. */
  nearness?: ReadonlyMap<number, number>;
}

/** As many columns as the finest grid has, and more. */
const ROW = 2 ** 20;
const wrapped = (column: number, resolution: number): number => {
  const columns = Math.round(360 / resolution);
  return ((column % columns) + columns) % columns;
};
const keyOf = (row: number, column: number, resolution: number): number => row * ROW + wrapped(column, resolution);

/** Returns in which row or column of a grid a latitude or longitude is. */
const rowOf = (lat: number, resolution: number): number => Math.floor((lat + 90) / resolution + 1e-9);
const columnOf = (lon: number, resolution: number): number => Math.floor((lon + 180) / resolution + 1e-9);

/** Neighbors count half as much as the cell itself, and those at a corner a quarter. */
const WEIGHTS = [
  [-1, 0.25],
  [0, 0.5],
  [1, 0.25],
] as const;
/** What the cell itself keeps. */
const MIDDLE = 0.25;

/** Returns how many events there are on each unit of area, each cell evened out with its neighbors: none is lost. */
export function densities(cells: readonly Pick<Cell, 'south' | 'west' | 'count'>[], resolution: number): Grid {
  const counts = new Map<number, number>();
  const nearness = new Map<number, number>();
  const rows = Math.ceil(180 / resolution - 1e-9);
  for (const { south, west, count } of cells)
    for (const [up, high] of WEIGHTS)
      for (const [right, wide] of WEIGHTS) {
        // What would go over a pole stays on this side.
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

/** Returns what a number of the events in each cell is, of those that have one. */
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

/** Returns how many events of a store are in each cell. */
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

/** Returns the value of a place: of its cell, or between it and its neighbors; null where there is none. */
export function valueAt({ resolution, values }: Grid, lat: number, lon: number, isSmooth: boolean): number | null {
  if (!isSmooth) return values.get(keyOf(rowOf(lat, resolution), columnOf(lon, resolution), resolution)) ?? null;
  const value = between(resolution, lat, lon, (key) => values.get(key) ?? 0);
  return value > 0 ? value : null;
}

/** Returns what is at a place between the middles of four cells. */
function between(resolution: number, lat: number, lon: number, at: (key: number) => number): number {
  const [y, x] = [(lat + 90) / resolution - 0.5, (lon + 180) / resolution - 0.5];
  const [row, column] = [Math.floor(y), Math.floor(x)];
  const of = (up: number, right: number): number => at(keyOf(row + up, column + right, resolution));
  const [high, wide] = [y - row, x - column];
  const low = of(0, 0) * (1 - wide) + of(0, 1) * wide;
  return low * (1 - high) + (of(1, 0) * (1 - wide) + of(1, 1) * wide) * high;
}

/** Returns what is around a place, in three cells each way, as a quadratic spline: it has neither edges nor corners. */
function around(resolution: number, lat: number, lon: number, at: (key: number) => number): number {
  const [y, x] = [(lat + 90) / resolution, (lon + 180) / resolution];
  const [row, column] = [Math.floor(y), Math.floor(x)];
  /** The weights of the cell before, its own and the one after, at a part of its own. */
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

/** From which number to which colors go, and the numbers that the legend has. */
export interface HeatScale {
  low: number;
  high: number;
  isLog: boolean;
  ticks: readonly number[];
}

/** More than so many times apart, densities are on a logarithmic scale. */
const LINEAR_MAX = 20;
/** What is fewer than the most by more than that has the lowest color. */
const DECADES_MAX = 4;
/** A tick that is nearer to the last one than such a part of the scale would run into its number. */
const TICK_GAP = 0.24;

/** Returns the scale of densities, from round numbers to round numbers; null without any. */
export function densityScale({ values, nearness }: Grid): HeatScale | null {
  // What is beside cells with events is less than any of them: the scale would begin where nothing is.
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

/** Returns the scale of numbers, which need not begin at zero; null without any. */
export function valueScale({ values }: Grid): HeatScale | null {
  const found = [...values.values()];
  if (found.length === 0) return null;
  const [least, most] = [Math.min(...found), Math.max(...found)];
  const step = niceStep((most - least || Math.abs(most) || 1) / 4);
  const [low, high] = [trimmed(Math.floor(least / step) * step), trimmed(Math.ceil(most / step) * step)];
  if (low === high) return { low, high: trimmed(low + step), isLog: false, ticks: [low, trimmed(low + step)] };
  return { low, high, isLog: false, ticks: [low, trimmed((low + high) / 2), high] };
}

/** What a digit takes, what a comma or a point takes, and what is between two numbers, in pixels. */
const [DIGIT, POINT, BETWEEN] = [7, 3.2, 5];

/** Returns the ticks that have room on a scale so wide: its ends, and of the others those that are not on another. */
export function roomyTicks(scale: HeatScale, pixels: number): readonly number[] {
  const wide = (tick: number): number => {
    const text = numberText(tick);
    const digits = text.replace(/[.,]/g, '').length;
    return digits * DIGIT + (text.length - digits) * POINT;
  };
  const { ticks } = scale;
  const [first, last] = [ticks[0]!, ticks.at(-1)!];
  let free = pixels - wide(last) - BETWEEN;
  // The larger ones first: these tell more.
  const spaced = ticks.slice(1, -1).reduceRight<number[]>((found, tick) => {
    const [middle, half] = [shareOf(scale, tick) * pixels, wide(tick) / 2];
    if (middle + half > free || middle - half < wide(first) + BETWEEN) return found;
    free = middle - half - BETWEEN;
    return [tick, ...found];
  }, []);
  return [first, ...spaced, last];
}

/** Returns where a value is on a scale, from 0 to 1. */
export function shareOf({ low, high, isLog }: HeatScale, value: number): number {
  const share = isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  return Math.min(Math.max(share, 0), 1);
}

/**
 * As near as the middle of the next cell, where the nearness is this much, is the color whole: it says the density, and
 * fading would say it a second time.
 */
const WHOLE = 0.4375;

/**
 * Returns where on a scale a place is, and how much of the color it has; null where there is nothing. Places on the
 * scale pass into each other, and not values: on a logarithmic scale, these end in an edge. Beyond the neighbors
 * of cells that have events the color fades.
 */
export function smoothAt(
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
  const part = Math.min(1, around(resolution, lat, lon, isIn) / WHOLE);
  return part > 0 ? { share, part } : null;
}
