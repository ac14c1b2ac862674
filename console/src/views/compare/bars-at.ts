/** Counts of both sides at a moment. */
import type { Counts } from '../../lib/events/counts';
import { countText, rangeText } from '../../lib/events/words';
import type { Micros } from '../../lib/time/instant';

interface Bars {
  from: Micros;
  to: Micros;
  a: number;
  b: number;
}

/** Returns the bars that contain a moment, or null if neither side has one. */
export function barsAt(counts: { a: Counts; b: Counts } | null, time: Micros): Bars | null {
  if (counts === null) return null;
  const [a, b] = [counts.a, counts.b].map(({ buckets }) => buckets.find(({ from, to }) => from <= time && time < to));
  const present = a ?? b;
  return present === undefined ? null : { from: present.from, to: present.to, a: a?.count ?? 0, b: b?.count ?? 0 };
}

export function barsText({ from, to, a, b }: Bars, names: { a: string; b: string }): { title: string; text: string } {
  const title = a === b ? `${countText(a, 'event')} on each` : `${a.toLocaleString('en')} and ${countText(b, 'event')}`;
  return { title, text: `${names.a} and ${names.b}, ${rangeText(from, to - 1n)} · click to zoom in` };
}
