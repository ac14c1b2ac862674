/** Fills map cells during playback: their events are counted in equal slices of the time range. */
import type { Micros } from '../../../lib/time/instant';
import type { Cells } from './cells';
import type { Range } from '../viewport.svelte';

/** Each slice is a request and a ledger entry. */
export const SLICES = 24;

/** Number of events per cell and time slice; null for slices that are not counted yet. */
export interface Growth {
  /** The cells that the slices belong to. */
  of: Cells;
  range: Range;
  slices: readonly (ReadonlyMap<string, number> | null)[];
}

/** Splits a time range into equal slices without gaps. Slices of a very short range may be empty. */
export function slicesOf({ from, to }: Range): Range[] {
  const edge = (index: number): Micros => from + ((to + 1n - from) * BigInt(index)) / BigInt(SLICES);
  return Array.from({ length: SLICES }, (_, index) => ({ from: edge(index), to: edge(index + 1) - 1n }));
}

/** Returns the number of consecutive slices that are counted, starting with the first. */
export function knownCount({ slices }: Growth): number {
  const missing = slices.indexOf(null);
  return missing < 0 ? slices.length : missing;
}

/**
 * Returns the cells with their counted events up to a time; within a slice, counts grow evenly. The classes do not
 * change, so a cell only becomes darker.
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
