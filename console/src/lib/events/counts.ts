/** How many events there are in each stretch of time, as the service counts them, or as they are in a store. */
import { service, type Input } from '../service/api';
import { format, parse, type Micros } from '../time/instant';
import { queryOf, type Question } from './filter';
import { FIRST, LAST } from '../chart/scale';
import { stepBegin, stepEnd, type Step } from './steps';
import type { EventStore } from './store';

/** How many groups of one key are requested at once. */
export const GROUPS_MAX = 1_000;
/** How many groups of two keys a response can have (`aggregate_groups_max`). */
export const PAIRS_MAX = 10_000;

export interface Bucket {
  from: Micros;
  /** Where the next one begins. */
  to: Micros;
  count: number;
}

/** Stretches without events are left out; those that are there are in order. */
export interface Counts {
  step: Step;
  /** Which time was asked for, from the beginning of a stretch to the end of one. */
  from: Micros;
  to: Micros;
  /** Up to where it is counted; `to` once that is done. */
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
  /** When the last event happens that was looked at, where there may be more. */
  counted_until?: string | null;
  next_cursor?: string | null;
}

/**
 * Counts events in groups until all are counted: the service looks through some at a time. `take` is told of each
 * answer, and up to where all are counted; null once that is everywhere. A group may be in several answers. If `take`
 * returns false, the rest is not requested.
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
    // Other events of the moment in which it stopped may be in the next answer.
    if (take(body, cursor === null ? null : (stop ?? FIRST) - 1n) === false) return;
  } while (cursor !== null);
}

/** Whether a response has all groups of the events that it counts. */
export const hasAllGroups = (body: AggregateBody): boolean =>
  !body.groups_truncated && body.groups_count <= body.groups.length;

/** Counts the events of a time in stretches. `onProgress` is told what is counted so far. */
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
  // The first and the last stretch of all reach beyond the calendar.
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

/** Counts the events of a time, both ends included. */
export async function readExact(
  question: Question,
  range: { from: Micros; to: Micros },
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  await aggregate(question, { group_by: 'time', bucket: 1, limit: 1 }, range, signal, (body) => (count += body.count));
  return count;
}

/** A count, and whether it is of all: the service looks through so many events at once, and no more. */
export interface Some {
  count: number;
  isAll: boolean;
}

/** Counts the events of a time with one question. */
export async function readSome(
  question: Question,
  range: { from: Micros; to: Micros },
  signal: AbortSignal,
): Promise<Some> {
  const time_range = `${format(range.from)}/${format(range.to)}`;
  const body = await service.aggregateEvents(
    { ...queryOf(question), group_by: 'time', bucket: 1, limit: 1, time_range },
    { signal },
  );
  return { count: body.count, isAll: !body.next_cursor };
}

/** Counts the events of a store that pass a test, in stretches. */
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

/** Returns the bucket that an instant is in, or null. */
export function bucketAt(counts: Counts, instant: Micros): Bucket | null {
  const bucket = counts.buckets[firstAfter(counts, instant)];
  return bucket !== undefined && bucket.from <= instant ? bucket : null;
}

interface Counted {
  count: number;
  /** Whether that is exact, and not a part of what is in the stretches at the ends. */
  isExact: boolean;
  /** How many it is at most. */
  most: number;
}

/** Returns how many events there are from one instant to another. */
export function countWithin(counts: Counts, from: Micros, to: Micros): Counted {
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

/** Returns a count without digits that it does not have. */
export function rounded(count: number): number {
  const grain = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(count, 1))) - 1);
  return Math.round(count / grain) * grain;
}
