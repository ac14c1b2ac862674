/** How the cells of a map fill while time is played: their events are counted in equal parts of the time. */
import type { Micros } from '../../../lib/time/instant';
import type { Cells } from './cells';
import type { Range } from '../sight.svelte';

/** Each part is a question, and an entry of the ledger. */
export const SLICES = 24;

/** How many events each cell has in each part of a time; null where that is not counted yet. */
export interface Growth {
  /** Of which cells these are parts. */
  of: Cells;
  range: Range;
  slices: readonly (ReadonlyMap<string, number> | null)[];
}

/** Returns equal parts of a time, without gaps between them; fewer where it is shorter than that. */
export function slicesOf({ from, to }: Range): Range[] {
  const edge = (index: number): Micros => from + ((to + 1n - from) * BigInt(index)) / BigInt(SLICES);
  return Array.from({ length: SLICES }, (_, index) => ({ from: edge(index), to: edge(index + 1) - 1n }));
}

/** Returns how many parts are counted from the first one on. */
export function knownCount({ slices }: Growth): number {
  const missing = slices.indexOf(null);
  return missing < 0 ? slices.length : missing;
}

/**
 * Returns cells with what is in them up to a moment, as far as that is counted. Within a part they fill evenly. The
 * shades stay what they are: a cell becomes darker, and not all of them lighter.
 */
export function cellsAt(growth: Growth, head: Micros): Cells {
  const { of: whole, range, slices } = growth;
  if (head >= range.to) return whole;
  const length = Number(range.to + 1n - range.from);
  const place = (Math.max(0, Number(head - range.from)) / length) * slices.length;
  const last = Math.min(Math.floor(place), knownCount(growth));
  const counts = new Map<string, number>();
  for (let index = 0; index <= last; index += 1) {
    const part = index < last ? 1 : place - last;
    for (const [key, count] of slices[index] ?? []) counts.set(key, (counts.get(key) ?? 0) + count * Math.min(part, 1));
  }
  const cells = whole.cells
    .map((cell) => ({ ...cell, count: Math.min(cell.count, Math.floor((counts.get(cell.key) ?? 0) + 1e-9)) }))
    .filter(({ count }) => count > 0);
  return { ...whole, cells, placed: cells.reduce((sum, { count }) => sum + count, 0) };
}
