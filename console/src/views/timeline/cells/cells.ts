/** How many events there are in each cell of the earth, where they are too many to place one by one. */
import type { Micros } from '../../../lib/time/instant';
import type { Box } from '../../../lib/address/ranges';
import { aggregate, GROUPS_MAX } from '../../../lib/events/counts';
import type { Question } from '../../../lib/events/filter';
import { niceStep } from '../../../lib/chart/nice';

/** What of the cells of a map is counted: which events, how finely, and what of the earth. */
export interface CellsQuery {
  question: Question;
  version: number;
  range: { from: Micros; to: Micros };
  resolution: number;
  within: Box | null;
}

export interface Cell extends Box {
  /** As the service calls it. */
  key: string;
  count: number;
}

export interface Cells {
  /** How high and wide a cell is, in degrees. */
  resolution: number;
  cells: readonly Cell[];
  /** With how many events each shade begins. */
  classes: readonly number[];
  /** How many events are in all of them. */
  placed: number;
  /** How many events were looked at for it, those without a place too. */
  total: number;
}

/** Returns the corners of the cells that matter: one of many elsewhere in the world does not make the others small. */
export function corners(cells: readonly Cell[]): { lat: number; lon: number }[] {
  const most = Math.max(...cells.map((cell) => cell.count), 1);
  return cells
    .filter((cell) => cell.count * 500 >= most)
    .flatMap(({ south, west, north, east }) => [
      { lat: south, lon: west },
      { lat: north, lon: east },
    ]);
}

/** A grid of each of these begins anew at the same places. */
export const RESOLUTIONS: readonly number[] = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30,
];

/** Returns the finest grid whose cells are at least so many degrees. */
export function resolutionOf(degrees: number): number {
  return RESOLUTIONS.find((resolution) => resolution >= degrees) ?? 30;
}

/**
 * Counts events in cells. Over millions of events that takes long, so what was counted last is not counted again, nor a
 * part of it.
 */
export class CellCounter {
  #last: { of: string; within: Box | null; cells: Cells } | null = null;

  /** `take` is told what is counted so far. */
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

/** There are so many shades. */
const CLASSES_COUNT = 5;
/** How many steps of 1, 2, 5, 10, 20 and so on there may be from a class to the next one; three are a power of ten. */
const STRIDES = [1, 2, 3];
/** What reaches less far beyond the beginning of a class is in the one below. */
const SLIVER_MAX = 1.5;
/** Counts from such a one on that are less than so many times apart have classes of one size: else most are in one. */
const [EVEN_MIN, EVEN_MAX] = [10, 10];

/** Returns the number of a step: 1, 2, 5, 10, 20, 50, 100 and so on, from 0. */
const stepAt = (index: number): number => [1, 2, 5][index % 3]! * 10 ** Math.floor(index / 3);

/**
 * Returns with how many events each class begins. Together they reach from the smallest count to the largest, as close
 * as they can: where all cells have tens of thousands, some have more than others all the same.
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
  // A class of its own for the last few would leave fewer for all others.
  const top = last > 0 && most < SLIVER_MAX * stepAt(last) ? last - 1 : last;
  const reach = CLASSES_COUNT - 1;
  // The lowest class may be wider than the others: those in which most cells are have to be narrow.
  const stride = STRIDES.find((each) => top - reach * each <= bottom + 2) ?? STRIDES.at(-1)!;
  // The darkest is that of the largest count, unless there are fewer steps than classes.
  const isRoom = top > (reach - 1) * stride;
  const first = isRoom ? top - reach * stride : 0;
  const classes = Array.from({ length: CLASSES_COUNT }, (_, index) => stepAt(Math.max(0, first + index * stride)));
  // What is less than that is in the first one too.
  if (classes[0]! > least) classes[0] = 1;
  return classes;
}

/** Returns which class a count is in, from 0. */
export function classOf(count: number, classes: readonly number[]): number {
  return Math.max(0, classes.filter((least) => least <= count).length - 1);
}

/** Returns the smallest box around all points; across the antimeridian where that is smaller. Null without points. */
export function boxAround(points: readonly { lat: number; lon: number }[]): Box | null {
  if (points.length === 0) return null;
  const lons = points.map(({ lon }) => lon).sort((a, b) => a - b);
  const lats = points.map(({ lat }) => lat);
  // The widest gap between neighbors is what the box leaves out.
  let widest = lons[0]! + 360 - lons.at(-1)!;
  let [west, east] = [lons[0]!, lons.at(-1)!];
  for (let index = 1; index < lons.length; index += 1) {
    const gap = lons[index]! - lons[index - 1]!;
    if (gap > widest) [widest, west, east] = [gap, lons[index]!, lons[index - 1]!];
  }
  return { west, east, south: Math.min(...lats), north: Math.max(...lats) };
}

/** Returns a box with some room on each side, of few digits: what is on its edge is in it. */
export function roomy({ west, east, south, north }: Box): Box {
  const room = 0.02;
  const bounded = (value: number, most: number): number => Number(Math.max(-most, Math.min(most, value)).toFixed(3));
  return {
    west: bounded(west - room, 180),
    east: bounded(east + room, 180),
    south: bounded(south - room, 90),
    north: bounded(north + room, 90),
  };
}
