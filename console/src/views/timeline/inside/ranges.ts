/** Time ranges of a comparison, and the description of the covered events. */
import { firstAfter, type Counts } from '../../../lib/events/counts';
import { countText } from '../../../lib/events/words';
import type { Micros } from '../../../lib/time/instant';
import type { Range } from '../viewport.svelte';

/** Some events of a time range. */
export interface Part {
  count: number;
  /** Whether the part contains all events. */
  isAll: boolean;
}

/** Returns the parts of the view outside a range: zero, one or two ranges. */
export function around(viewport: Range, range: Range): Range[] {
  const before = { from: viewport.from, to: range.from > viewport.to ? viewport.to : range.from - 1n };
  const after = { from: range.to < viewport.from ? viewport.from : range.to + 1n, to: viewport.to };
  return [before, after].filter(({ from, to }) => from <= to);
}

/** Returns times that divide the events of ordered ranges into parts of about equal size. */
export function spread(counts: Counts, spans: readonly Range[], moments: number): Micros[] {
  const pieces = spans.flatMap((span) => piecesOf(counts, span));
  const all = pieces.reduce((sum, { count }) => sum + count, 0);
  const found: Micros[] = [];
  let [index, before] = [0, 0];
  for (let place = 0; place < moments && all > 0; place += 1) {
    const target = (all * place) / moments;
    while (index < pieces.length - 1 && before + pieces[index]!.count <= target) before += pieces[index++]!.count;
    const { from, to, count } = pieces[index]!;
    found.push(from + BigInt(Math.floor((Number(to - from) * (target - before)) / count)));
  }
  return [...new Set(found)];
}

/** Returns the buckets within a range. The count of a partly covered bucket is estimated. */
export function piecesOf(counts: Counts, { from, to }: Range): (Range & { count: number })[] {
  const pieces: (Range & { count: number })[] = [];
  for (let index = firstAfter(counts, from); index < counts.buckets.length; index += 1) {
    const bucket = counts.buckets[index]!;
    if (bucket.from > to) break;
    const low = bucket.from > from ? bucket.from : from;
    const high = bucket.to < to ? bucket.to : to + 1n;
    const count = (bucket.count * Number(high - low)) / Number(bucket.to - bucket.from);
    if (count > 0) pieces.push({ from: low, to: high, count });
  }
  return pieces;
}

/** Describes a part: "all 34 events selected", "380,000 events selected, evenly sampled". */
export function partText({ count, isAll }: Part, what: string): string {
  if (isAll) return count === 1 ? `the one event ${what}` : `all ${countText(count, 'event')} ${what}`;
  return `${countText(count, 'event')} ${what}, evenly sampled`;
}
