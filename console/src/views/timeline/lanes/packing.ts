/** Which row of its lane an event that lasts stands in: beside what lasts at the same time, and not on it. */
import type { EventStore } from '../../../lib/events/store';

export interface Packing {
  /** The row of each event in its lane, from 0; −1 for a moment, which is a dot. */
  rows: Int32Array;
  /** Which event is the next one in the same row; −1 where there is none. */
  next: Int32Array;
  /** How many rows each lane has. */
  counts: readonly number[];
  hasMoments: boolean;
}

/**
 * Gives each event that lasts the first row of its lane that is free when it begins. It is done for all events and not
 * for those in sight, so that none of them changes its row while the axis is dragged or zoomed. Of those that begin
 * together the longest comes first: a span stands above those that it is made of.
 */
export function pack(store: EventStore, laneOf: (event: number) => number, lanes: number): Packing {
  const rows = new Int32Array(store.count).fill(-1);
  const next = new Int32Array(store.count).fill(-1);
  // For each lane, when its rows are free again, and after which event.
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
 * Shares out a room of so many rows: a lane that is open has all that it needs, the others one each, and of what is
 * left the same for all that need more. Together they may take more than there is room for: then one scrolls.
 */
export function shareRows(needs: readonly number[], isOpen: readonly boolean[], room: number): number[] {
  const rowCounts = needs.map((need, lane) => (isOpen[lane] ? need : Math.min(need, 1)));
  let left = room - rowCounts.reduce((sum, rows) => sum + rows, 0);
  for (let given = 1; left > 0 && given > 0; left -= given) {
    const wanting = needs.flatMap((need, lane) => (rowCounts[lane]! < need ? [lane] : [])).slice(0, left);
    given = wanting.length;
    for (const lane of wanting) rowCounts[lane]! += 1;
  }
  return rowCounts;
}
