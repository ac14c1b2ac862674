/** Finds events by what is written of them. */
import type { EventStore } from './store';

const HITS_MAX = 200;

export interface Found {
  rows: number[];
  /** How many there are in all. */
  total: number;
}

/** Returns the events that have all words; those with the first word in their name come first. */
export function find(store: EventStore, wanted: string): Found {
  const words = wanted
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  if (words.length === 0) return { rows: [], total: 0 };
  const named: number[] = [];
  const others: number[] = [];
  let total = 0;
  for (let row = 0; row < store.count; row += 1) {
    const text = store.texts[row]!;
    if (!words.every((word) => text.includes(word))) continue;
    total += 1;
    const name = text.slice(0, text.indexOf('\n'));
    const list = words.every((word) => name.includes(word)) ? named : others;
    if (list.length < HITS_MAX) list.push(row);
  }
  return { rows: [...named, ...others].slice(0, HITS_MAX), total };
}
