/** Counts events by time and value in one request, for the parts of the bars. */
import { aggregate, hasAllGroups, PAIRS_MAX, type Bucket, type Counts } from '../../../lib/events/counts';
import type { GroupBy, Question } from '../../../lib/events/filter';
import { FIRST, LAST } from '../../../lib/chart/scale';
import { parse, type Micros } from '../../../lib/time/instant';
import { stepEnd } from '../../../lib/events/steps';
import { keyOf, type EventCounts, type Series } from '../counts/event-counts.svelte';
import { hasTooManyValues } from './classes';
import { membersOf, type Legend } from './groups';

/** Counts of each value in the buckets of the whole counts, and of the events without a value. */
export interface ValueCounts {
  byValue: ReadonlyMap<string, Counts>;
  count: number;
  ungrouped: number;
}

/** Counts all values; null if they exceed the response limit. */
export async function readAllValues(
  question: Question,
  by: GroupBy,
  whole: Counts,
  signal: AbortSignal,
): Promise<ValueCounts | null> {
  return readValues(question, by, null, whole, signal);
}

/** Counts the legend groups that are not yet counted in these buckets. */
export async function readMissing(
  counted: EventCounts,
  question: Question,
  legend: Legend,
  whole: Counts,
  signal: AbortSignal,
): Promise<void> {
  if (hasTooManyValues(legend)) return;
  const { by } = legend;
  const known = new Map(seriesOf(counted, by, whole)?.byValue);
  const missing = legend.groups.flatMap(membersOf).filter((value) => !known.has(value));
  const valuesMax = Math.max(1, Math.floor(PAIRS_MAX / Math.max(1, whole.buckets.length)));
  for (let first = 0; first < missing.length; first += valuesMax) {
    const values = missing.slice(first, first + valuesMax);
    const found = await readValues(question, by, values, whole, signal);
    for (const value of values) known.set(value, found?.byValue.get(value) ?? nothingOf(whole));
  }
  counted.series = seriesIn(legend, whole, known);
}

/** Stores the counts of all values for a legend that was built from them. */
export function keepAll(counted: EventCounts, legend: Legend, whole: Counts, { byValue }: ValueCounts): void {
  const none = legend.groups.flatMap(membersOf).filter((value) => !byValue.has(value));
  const all = new Map([...byValue, ...none.map((value) => [value, nothingOf(whole)] as const)]);
  counted.series = seriesIn(legend, whole, all);
}

const seriesOf = ({ series }: EventCounts, by: GroupBy, whole: Counts): Series | null =>
  series?.whole === whole && series.by === by ? series : null;

function seriesIn({ by, groups }: Legend, whole: Counts, byValue: ReadonlyMap<string, Counts>): Series {
  const sum = (values: readonly string[]): Counts =>
    together(
      values.map((value) => byValue.get(value)!),
      whole,
    );
  return { whole, by, byValue, byKey: new Map(groups.map((group) => [keyOf(group), sum(membersOf(group))])) };
}

/** Returns the sum of counts with the same buckets. */
function together(parts: readonly Counts[], { step, from, to }: Counts): Counts {
  if (parts.length === 1) return parts[0]!;
  const sums = new Map<Micros, Bucket>();
  for (const bucket of parts.flatMap(({ buckets }) => buckets))
    sums.set(bucket.from, { ...bucket, count: bucket.count + (sums.get(bucket.from)?.count ?? 0) });
  const buckets = [...sums.values()].sort((a, b) => (a.from < b.from ? -1 : 1));
  return { step, from, to, until: to, buckets, count: parts.reduce((sum, { count }) => sum + count, 0) };
}

const nothingOf = ({ step, from, to }: Counts): Counts => ({ step, from, to, until: to, buckets: [], count: 0 });

async function readValues(
  question: Question,
  by: GroupBy,
  values: readonly string[] | null,
  whole: Counts,
  signal: AbortSignal,
): Promise<ValueCounts | null> {
  const { step, from, to } = whole;
  const found = new Map<string, Map<Micros, Bucket>>();
  let [count, ungrouped, isAll] = [0, 0, true];
  // The first and last bucket may extend beyond the calendar.
  const range = { from: from < FIRST ? FIRST : from, to: to > LAST ? LAST : to - 1n };
  const limited = values === null ? {} : { values: JSON.stringify(values) };
  const query = { group_by: `time,${by}`, bucket: step.iso, limit: PAIRS_MAX, ...limited };
  await aggregate(question, query, range, signal, (body) => {
    isAll &&= hasAllGroups(body);
    for (const group of body.groups) {
      const [begin, value] = [parse(group.key), group.second_key ?? null];
      if (begin === null || value === null) continue;
      const buckets = found.get(value) ?? new Map<Micros, Bucket>();
      const end = (group.end ? parse(group.end) : null) ?? stepEnd(step, begin);
      buckets.set(begin, { from: begin, to: end, count: group.count + (buckets.get(begin)?.count ?? 0) });
      found.set(value, buckets);
    }
    count += body.count;
    ungrouped += body.ungrouped_count;
    return isAll;
  });
  if (!isAll) return null;
  const countsOf = (buckets: ReadonlyMap<Micros, Bucket>): Counts => {
    const all = [...buckets.values()];
    return { step, from, to, until: to, buckets: all, count: all.reduce((sum, bucket) => sum + bucket.count, 0) };
  };
  return { byValue: new Map([...found].map(([value, buckets]) => [value, countsOf(buckets)])), count, ungrouped };
}
