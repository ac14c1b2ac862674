/** Counts events in map cells when there are too many to show them individually. */
import type { Micros } from '../../../lib/time/instant';
import type { Box } from '../../../lib/address/ranges';
import { aggregate, GROUPS_MAX } from '../../../lib/events/counts';
import type { Question } from '../../../lib/events/filter';
import { niceStep } from '../../../lib/chart/nice';

/** Query for map cells: events, resolution and area. */
export interface CellsQuery {
  question: Question;
  version: number;
  range: { from: Micros; to: Micros };
  resolution: number;
  within: Box | null;
}

export interface Cell extends Box {
  /** Identifier of the cell in the API. */
  key: string;
  count: number;
}

export interface Cells {
  /** Width and height of a cell in degrees. */
  resolution: number;
  cells: readonly Cell[];
  /** Lower bound of each shade's class. */
  classes: readonly number[];
  /** Number of events in all cells. */
  placed: number;
  /** Number of matching events, including those without a place. */
  total: number;
}

/**
 * Returns the corners of the cells with a significant count, so that a single distant event does not shrink the rest of
 * the map.
 */
export function corners(cells: readonly Cell[]): { lat: number; lon: number }[] {
  const most = Math.max(...cells.map((cell) => cell.count), 1);
  return cells
    .filter((cell) => cell.count * 500 >= most)
    .flatMap(({ south, west, north, east }) => [
      { lat: south, lon: west },
      { lat: north, lon: east },
    ]);
}

/** Cell sizes in degrees. Grids of each size are aligned with the same origin. */
export const RESOLUTIONS: readonly number[] = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30,
];

/** Returns the finest resolution of at least `degrees`. */
export function resolutionOf(degrees: number): number {
  return RESOLUTIONS.find((resolution) => resolution >= degrees) ?? 30;
}

/**
 * Counts events in cells. This takes long for millions of events, so the last result is cached and reused for the same
 * area or a part of it.
 */
export class CellCounter {
  #last: { of: string; within: Box | null; cells: Cells } | null = null;

  /** `take` receives partial results. */
  async read(query: CellsQuery, signal: AbortSignal, take: (cells: Cells) => void): Promise<Cells> {
    const { question, version, range, resolution, within } = query;
    const of = JSON.stringify([question, version, String(range.from), String(range.to), resolution]);
    const last = this.#last;
    if (last?.of === of && (last.within === null || JSON.stringify(last.within) === JSON.stringify(within)))
      return last.cells;
    const cells = await readCells(query, signal, take);
    this.#last = { of, within, cells };
    return cells;
  }
}

async function readCells(
  { question, range, resolution, within }: CellsQuery,
  signal: AbortSignal,
  take: (cells: Cells) => void,
): Promise<Cells> {
  const counts = new Map<string, number>();
  let total = 0;
  const bounded = { ...question, box: question.box ?? within };
  const snapshot = (): Cells => {
    const cells = [...counts].map(([key, count]): Cell => {
      const [west = 0, south = 0, east = 0, north = 0] = key.split(',').map(Number);
      return { key, west, south, east, north, count };
    });
    const classes = classesOf(cells.map(({ count }) => count));
    return { resolution, cells, classes, total, placed: cells.reduce((sum, cell) => sum + cell.count, 0) };
  };
  await aggregate(bounded, { group_by: 'cell', resolution, limit: GROUPS_MAX }, range, signal, (body, until) => {
    total += body.count;
    for (const { key, count } of body.groups) counts.set(key, (counts.get(key) ?? 0) + count);
    if (until !== null) take(snapshot());
  });
  return snapshot();
}

/** Number of shades. */
const CLASSES_COUNT = 5;
/** Steps of 1, 2, 5, 10, 20, … between two classes; three steps are a power of ten. */
const STRIDES = [1, 2, 3];
/** If the largest count is less than this multiple of a step, the top class starts one step lower. */
const SLIVER_MAX = 1.5;
/**
 * Counts of at least `EVEN_MIN` that differ by less than a factor of `EVEN_MAX` get classes of equal size; otherwise
 * most would be in one class.
 */
const [EVEN_MIN, EVEN_MAX] = [10, 10];

/** Returns step `index` of 1, 2, 5, 10, 20, 50, 100, … */
const stepAt = (index: number): number => [1, 2, 5][index % 3]! * 10 ** Math.floor(index / 3);

/**
 * Returns the lower bounds of the classes. They span the smallest to the largest count closely, so that cells with
 * similar counts still differ.
 */
export function classesOf(counts: readonly number[]): number[] {
  const [least, most] = counts.reduce<[number, number]>(
    ([low, high], count) => [Math.min(low, count), Math.max(high, count)],
    [counts[0] ?? 1, 1],
  );
  if (least >= EVEN_MIN && most > least && most < least * EVEN_MAX) {
    const size = niceStep(Math.max(1, (most - least) / CLASSES_COUNT));
    const begin = Math.floor(least / size) * size;
    return Array.from({ length: CLASSES_COUNT }, (_, index) => Math.max(1, begin + index * size));
  }
  const stepBelow = (count: number): number => {
    let index = 0;
    while (stepAt(index + 1) <= count) index += 1;
    return index;
  };
  const bottom = stepBelow(least);
  const last = stepBelow(most);
  // A class for only the last few counts would leave fewer classes for all others.
  const top = last > 0 && most < SLIVER_MAX * stepAt(last) ? last - 1 : last;
  const reach = CLASSES_COUNT - 1;
  // The lowest class may be wider than the others: the classes with most cells must be narrow.
  const stride = STRIDES.find((each) => top - reach * each <= bottom + 2) ?? STRIDES.at(-1)!;
  // The darkest class contains the largest count, unless there are fewer steps than classes.
  const isRoom = top > (reach - 1) * stride;
  const first = isRoom ? top - reach * stride : 0;
  const classes = Array.from({ length: CLASSES_COUNT }, (_, index) => stepAt(Math.max(0, first + index * stride)));
  // Smaller counts belong to the first class, too.
  if (classes[0]! > least) classes[0] = 1;
  return classes;
}

/** Returns the class index of a count. */
export function classOf(count: number, classes: readonly number[]): number {
  return Math.max(0, classes.filter((least) => least <= count).length - 1);
}

/** Returns the smallest box around all points, across the antimeridian if that is smaller; null without points. */
export function boxAround(points: readonly { lat: number; lon: number }[]): Box | null {
  if (points.length === 0) return null;
  const lons = points.map(({ lon }) => lon).sort((a, b) => a - b);
  const lats = points.map(({ lat }) => lat);
  // The box excludes the widest gap between neighbors.
  let widest = lons[0]! + 360 - lons.at(-1)!;
  let [west, east] = [lons[0]!, lons.at(-1)!];
  for (let index = 1; index < lons.length; index += 1) {
    const gap = lons[index]! - lons[index - 1]!;
    if (gap > widest) [widest, west, east] = [gap, lons[index]!, lons[index - 1]!];
  }
  return { west, east, south: Math.min(...lats), north: Math.max(...lats) };
}

/** Expands a box slightly and rounds it, so that it includes points on the edge. */
export function padded({ west, east, south, north }: Box): Box {
  const room = 0.02;
  const bounded = (value: number, most: number): number => Number(Math.max(-most, Math.min(most, value)).toFixed(3));
  return {
    west: bounded(west - room, 180),
    east: bounded(east + room, 180),
    south: bounded(south - room, 90),
    north: bounded(north + room, 90),
  };
}
