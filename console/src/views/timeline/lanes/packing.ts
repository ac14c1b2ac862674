/** Assigns events with a duration to rows of their lane, so that concurrent events do not overlap. */
import type { EventStore } from '../../../lib/events/store';

export interface Packing {
  /** Row of each event in its lane, from 0; −1 for an event without duration, which is a dot. */
  rows: Int32Array;
  /** Next event in the same row; −1 if there is none. */
  next: Int32Array;
  /** Number of rows of each lane. */
  counts: readonly number[];
  hasMoments: boolean;
}

/**
 * Puts each event with a duration into the first row of its lane that is free when it starts. Packs all events, not
 * only visible ones, so that no event changes its row while panning or zooming. Of events that start together, the
 * longest comes first, so that a span is above its parts.
 */
export function pack(store: EventStore, laneOf: (event: number) => number, lanes: number): Packing {
  const rows = new Int32Array(store.count).fill(-1);
  const next = new Int32Array(store.count).fill(-1);
  // By lane, the end and the last event of each row.
  const free = Array.from({ length: lanes }, (): { end: number; last: number }[] => []);
  const begin = (event: number): number =>
    (store.seconds[event]! - store.seconds[0]!) * 1e6 + (store.micros[event]! - store.micros[0]!);
  const lasting = Array.from({ length: store.count }, (_, event) => event).filter((event) => store.lengths[event]! > 0);
  lasting.sort((a, b) => begin(a) - begin(b) || store.lengths[b]! - store.lengths[a]! || a - b);
  for (const event of lasting) {
    const taken = free[laneOf(event)]!;
    const from = begin(event);
    const found = taken.findIndex(({ end }) => end <= from);
    const row = found < 0 ? taken.length : found;
    if (found >= 0) next[taken[found]!.last] = event;
    taken[row] = { end: from + store.lengths[event]!, last: event };
    rows[event] = row;
  }
  return { rows, next, counts: free.map(({ length }) => length), hasMoments: lasting.length < store.count };
}

/**
 * Distributes rows among lanes. An open lane gets all the rows it needs, others get one each, and the rest is shared
 * evenly. The sum may exceed the available rows: then the lanes scroll.
 */
export function shareRows(needs: readonly number[], isOpen: readonly boolean[], room: number): number[] {
  const rowCounts = needs.map((need, lane) => (isOpen[lane] ? need : Math.min(need, 1)));
  let left = room - rowCounts.reduce((sum, rows) => sum + rows, 0);
  for (let given = 1; left > 0 && given > 0; left -= given) {
    const candidates = needs.flatMap((need, lane) => (rowCounts[lane]! < need ? [lane] : [])).slice(0, left);
    given = candidates.length;
    for (const lane of candidates) rowCounts[lane]! += 1;
  }
  return rowCounts;
}
