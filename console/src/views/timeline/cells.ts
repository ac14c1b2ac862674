/** How many events there are in each cell of the earth, where they are too many to place one by one. */
import type { Box } from '../../lib/ranges';
import type { Micros } from '../../lib/instant';
import { aggregate, GROUPS_MAX } from '../../lib/events/counts';
import type { Question } from '../../lib/events/filter';

interface Cell extends Box {
  count: number;
}

export interface Cells {
  /** How high and wide a cell is, in degrees. */
  resolution: number;
  cells: readonly Cell[];
  /** How many events are in all of them. */
  placed: number;
}

/** A grid of each of these begins anew at the same places. */
const RESOLUTIONS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30];

/** Returns the finest grid whose cells are at least so many degrees. */
export function resolutionOf(degrees: number): number {
  return RESOLUTIONS.find((resolution) => resolution >= degrees) ?? 30;
}

/** Counts the events of a time in cells; `within` is what of the earth is in sight, `take` is told what is counted. */
export async function readCells(
  question: Question,
  range: { from: Micros; to: Micros },
  resolution: number,
  within: Box | null,
  signal: AbortSignal,
  take: (cells: Cells) => void,
): Promise<Cells> {
  const counts = new Map<string, number>();
  const asked = { ...question, box: question.box ?? within };
  const told = (): Cells => {
    const cells = [...counts].map(([key, count]): Cell => {
      const [west = 0, south = 0, east = 0, north = 0] = key.split(',').map(Number);
      return { west, south, east, north, count };
    });
    return { resolution, cells, placed: cells.reduce((sum, cell) => sum + cell.count, 0) };
  };
  await aggregate(asked, { by: 'cell', resolution, limit: GROUPS_MAX }, range, signal, (body, until) => {
    for (const { key, count } of body.groups) counts.set(key, (counts.get(key) ?? 0) + count);
    if (until !== null) take(told());
  });
  return told();
}

/** Classes of counts: each has a color, and is as many times more as the one before. */
export const CLASSES = [1, 10, 100, 1_000, 10_000] as const;

/** Returns which class a count is in, from 0. */
export function classOf(count: number): number {
  return Math.min(CLASSES.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(count, 1)) + 1e-9)));
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
