/** Event counts per time bucket, from the service or from an `EventStore`. */
import { service, type Input } from '../service/api';
import { format, parse, type Micros } from '../time/instant';
import { queryOf, type Question } from './filter';
import { FIRST, LAST } from '../chart/scale';
import { stepBegin, stepEnd, type Step } from './steps';
import type { EventStore } from './store';

/** Maximum number of groups of one key per request. */
export const GROUPS_MAX = 1_000;
/** Maximum number of groups of two keys per response (`aggregate_groups_max`). */
export const PAIRS_MAX = 10_000;

export interface Bucket {
  from: Micros;
  /** Start of the next bucket. */
  to: Micros;
  count: number;
}

/** Non-empty buckets in time order. */
export interface Counts {
  step: Step;
  /** Requested range, aligned to bucket boundaries. */
  from: Micros;
  to: Micros;
  /** End of the range counted so far; equals `to` when complete. */
  until: Micros;
  buckets: readonly Bucket[];
  count: number;
}

interface GroupBody {
  key: string;
  second_key?: string | null;
  end?: string | null;
  count: number;
}
export interface AggregateBody {
  groups: GroupBody[];
  groups_count: number;
  groups_truncated: boolean;
  count: number;
  ungrouped_count: number;
  /** Time of the last event that was counted, if there may be more. */
  counted_until?: string | null;
  next_cursor?: string | null;
}

/**
 * Counts events in groups. The service counts a limited number of events per response, so this requests pages until all
 * are counted. `take` receives each response and the time up to which the count is complete, or null at the end. A
 * group may be in several responses. If `take` returns false, the remaining pages are not requested.
 */
export async function aggregate(
  question: Question,
  query: Pick<Input<'aggregate_events'>, 'group_by' | 'bucket' | 'resolution' | 'values' | 'limit'>,
  range: { from: Micros; to: Micros } | null,
  signal: AbortSignal,
  take: (body: AggregateBody, until: Micros | null) => unknown,
): Promise<void> {
  const ends = [range?.from, range?.to].map((end) => (end === undefined ? '..' : format(end)));
  let cursor: string | null = null;
  do {
    const body: AggregateBody = await service.aggregateEvents(
      { ...queryOf(question), ...query, time_range: ends.join('/'), cursor: cursor ?? undefined },
      { signal },
    );
    cursor = body.next_cursor ?? null;
    const stop = body.counted_until ? parse(body.counted_until) : null;
    // The next response may contain other events at the instant where this one stopped.
    if (take(body, cursor === null ? null : (stop ?? FIRST) - 1n) === false) return;
  } while (cursor !== null);
}

/** Whether a response contains all groups of the events it counts. */
export const hasAllGroups = (body: AggregateBody): boolean =>
  !body.groups_truncated && body.groups_count <= body.groups.length;

/** Counts the events of a range in buckets. `onProgress` receives the counts so far. */
export async function readCounts(
  question: Question,
  step: Step,
  range: { from: Micros; to: Micros },
  signal: AbortSignal,
  onProgress: (counts: Counts) => void,
): Promise<Counts> {
  const found = new Map<Micros, Bucket>();
  const { from, to } = range;
  let counts: Counts = { step, from, to, until: from, buckets: [], count: 0 };
  // The first and the last bucket may extend beyond the calendar.
  const bounds = { from: from < FIRST ? FIRST : from, to: to > LAST ? LAST : to - 1n };
  await aggregate(
    question,
    { group_by: 'time', bucket: step.iso, limit: GROUPS_MAX },
    bounds,
    signal,
    (body, until) => {
      for (const group of body.groups) {
        const begin = parse(group.key);
        if (begin === null) continue;
        const known = found.get(begin);
        const end = (group.end ? parse(group.end) : null) ?? stepEnd(step, begin);
        found.set(begin, { from: begin, to: end, count: group.count + (known?.count ?? 0) });
      }
      counts = { ...counts, until: until ?? to, buckets: [...found.values()], count: counts.count + body.count };
      if (until !== null) onProgress(counts);
    },
  );
  return counts;
}

/** Counts the events of a range, both ends included. */
export async function readExact(
  question: Question,
  range: { from: Micros; to: Micros },
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  await aggregate(question, { group_by: 'time', bucket: 1, limit: 1 }, range, signal, (body) => (count += body.count));
  return count;
}

/** A count that may be partial: the service counts a limited number of events per request. */
export interface PartialCount {
  count: number;
  isAll: boolean;
}

/** Counts the events of a range with a single request. */
export async function readPartialCount(
  question: Question,
  range: { from: Micros; to: Micros },
  signal: AbortSignal,
): Promise<PartialCount> {
  const time_range = `${format(range.from)}/${format(range.to)}`;
  const body = await service.aggregateEvents(
    { ...queryOf(question), group_by: 'time', bucket: 1, limit: 1, time_range },
    { signal },
  );
  return { count: body.count, isAll: !body.next_cursor };
}

/** Counts the events of a store that pass a test, in buckets. */
export function countStore(store: EventStore, step: Step, test: (row: number) => boolean = () => true): Counts {
  const buckets: Bucket[] = [];
  let count = 0;
  let last: Bucket | null = null;
  for (let row = 0; row < store.count; row += 1) {
    if (!test(row)) continue;
    const time = store.time(row);
    count += 1;
    if (last !== null && time < last.to) {
      last.count += 1;
      continue;
    }
    const from = stepBegin(step, time);
    last = { from, to: stepEnd(step, from), count: 1 };
    buckets.push(last);
  }
  const from = buckets[0]?.from ?? 0n;
  const to = last?.to ?? 0n;
  return { step, from, to, until: to, buckets, count };
}

/** Returns the index of the first bucket that ends after an instant. */
export function firstAfter({ buckets }: Counts, instant: Micros): number {
  let low = 0;
  let high = buckets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (buckets[middle]!.to > instant) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** Returns the bucket that contains an instant, or null. */
export function bucketAt(counts: Counts, instant: Micros): Bucket | null {
  const bucket = counts.buckets[firstAfter(counts, instant)];
  return bucket !== undefined && bucket.from <= instant ? bucket : null;
}

interface CountEstimate {
  count: number;
  /** False if the count includes an estimate for a partly covered bucket at either end. */
  isExact: boolean;
  /** Upper bound of the count. */
  most: number;
}

/** Returns the number of events between two instants. */
export function countWithin(counts: Counts, from: Micros, to: Micros): CountEstimate {
  let [sum, most, isExact] = [0, 0, counts.until >= counts.to];
  for (let index = firstAfter(counts, from); index < counts.buckets.length; index += 1) {
    const bucket = counts.buckets[index]!;
    if (bucket.from > to) break;
    const isIn = bucket.from >= from && bucket.to - 1n <= to;
    const low = bucket.from > from ? bucket.from : from;
    const high = bucket.to < to ? bucket.to : to;
    most += bucket.count;
    sum += isIn ? bucket.count : (bucket.count * Number(high - low)) / Number(bucket.to - bucket.from);
    isExact &&= isIn;
  }
  return { count: Math.round(sum), isExact, most };
}

/** Rounds a count to its two leading digits. */
export function rounded(count: number): number {
  const grain = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(count, 1))) - 1);
  return Math.round(count / grain) * grain;
}
