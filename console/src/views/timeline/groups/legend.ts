/** Builds legends from the service or a store. Loaded only when grouping is used. */
import { service } from '../../../lib/service/api';
import { aggregate, GROUPS_MAX, hasAllGroups, type AggregateBody } from '../../../lib/events/counts';
import {
  requiredValue,
  isTracked,
  queryOf,
  type Filter,
  type GroupBy,
  type Question,
} from '../../../lib/events/filter';
import type { Micros } from '../../../lib/time/instant';
import type { EventStore } from '../../../lib/events/store';
import { classify } from './classes';
import { numberOf } from '../attributes/numbers';
import { COLORS, LARGEST, valuesOf, type GroupSelection, type Group, type Legend, type Span } from './groups';
import type { ValueCounts } from './series';

/** Counts the events of each group in a time range, both ends included. */
export async function readLegend(
  question: Question,
  by: GroupBy,
  range: Span,
  before: Legend | null,
  chosen: GroupSelection,
  signal: AbortSignal,
): Promise<Legend> {
  const sums = new Map<string, number>();
  let [count, without, isAbout] = [0, 0, false];
  await aggregate(question, { group_by: by, limit: GROUPS_MAX }, range, signal, (body) => {
    for (const group of body.groups) sums.set(group.key, (sums.get(group.key) ?? 0) + group.count);
    count += body.count;
    without += body.ungrouped_count;
    isAbout ||= !hasAllGroups(body);
  });
  return summed(by, requiredValue(question.filter, by), sums, { count, without, isAbout }, before, chosen);
}

/** Returns a legend from values counted over the whole extent. */
export function legendOfAll(
  filter: Filter,
  by: GroupBy,
  { byValue, count, ungrouped }: ValueCounts,
  before: Legend | null,
  chosen: GroupSelection,
): Legend {
  const sums = new Map([...byValue].map(([value, counts]) => [value, counts.count]));
  return summed(by, requiredValue(filter, by), sums, { count, without: ungrouped, isAbout: false }, before, chosen);
}

/** Counts the groups of loaded events in a time range, like `readLegend` does with the service. */
export function legendOf(
  store: EventStore,
  filter: Filter,
  by: GroupBy,
  { from, to }: Span,
  before: Legend | null = null,
  chosen = LARGEST,
): Legend {
  const sums = new Map<string, number>();
  let without = 0;
  // Include events that started earlier and have not ended.
  const [first, last] = [store.lowerBound(from), store.lowerBound(to + 1n)];
  const events = store.bodies.filter((_, row) => row < last && (row >= first || reaches(store, row, from)));
  for (const event of events) {
    const values = new Set(valuesOf(event, by));
    for (const value of values) sums.set(value, (sums.get(value) ?? 0) + 1);
    if (values.size === 0) without += 1;
  }
  return summed(by, requiredValue(filter, by), sums, { count: events.length, without, isAbout: false }, before, chosen);
}

const reaches = (store: EventStore, row: number, instant: Micros): boolean =>
  store.lengths[row]! > 0 && store.time(row) + BigInt(Math.round(store.lengths[row]!)) > instant;

function summed(
  by: GroupBy,
  own: string,
  sums: ReadonlyMap<string, number>,
  { count, without, isAbout }: { count: number; without: number; isAbout: boolean },
  before: Legend | null,
  chosen: GroupSelection,
): Legend {
  const all = [...sums].map(([key, sum]) => ({ key, count: sum }));
  all.sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
  // With several values per event, only the filtered value has a color. Identifiers are not measurements, and
  // explicitly chosen values are not classified.
  const isPlain = own !== '' || isTracked(by) || chosen.isEach === true || chosen.pins.length > 0 || chosen.skip > 0;
  const numbers = isPlain ? null : classify(all, before?.by === by ? before.classes : null);
  const colored = own === '' ? withColors(all, chosen, sums) : all.filter((group) => group.key === own);
  const groups = numbers?.groups ?? inPlaces(colored, before);
  const named = groups.reduce((sum, group) => sum + group.count, 0);
  const total = all.reduce((sum, group) => sum + group.count, 0);
  const others = Math.max(0, count - named);
  return { by, groups, all, classes: numbers?.classes ?? null, others, isAbout, hasSeveral: total + without > count };
}

/** Returns the groups with colors: pinned ones, even without events, then the next ones by count. */
function withColors(all: readonly Group[], { pins, skip }: GroupSelection, sums: ReadonlyMap<string, number>): Group[] {
  const pinned = pins.slice(0, COLORS).map((key) => ({ key, count: sums.get(key) ?? 0 }));
  const free = all.filter(({ key }) => !pins.includes(key));
  const places = COLORS - pinned.length;
  // If fewer groups are in view than when `skip` was chosen, color the last ones.
  const first = Math.min(skip, Math.max(0, free.length - places));
  return [...pinned, ...free.slice(first, first + places)];
}

/** Keeps groups at their previous positions as far as possible and fills the gaps with new groups. */
function inPlaces(groups: readonly Group[], before: Legend | null): Group[] {
  const placed = new Array<Group | undefined>(groups.length).fill(undefined);
  const rest: Group[] = [];
  for (const group of groups) {
    const place = before?.groups.findIndex(({ key }) => key === group.key) ?? -1;
    if (place >= 0 && place < placed.length) placed[place] = group;
    else rest.push(group);
  }
  return placed.map((group) => group ?? rest.shift()!);
}

const VALUES_MAX = 40;

/** Suggested values. */
export interface Values {
  /** The most frequent values. */
  groups: readonly Group[];
  /** Number of distinct values; null if not all events were read. */
  count: number | null;
  /** Smallest and largest value, if all values are numbers. */
  least: string | null;
  greatest: string | null;
}

/** Loads the values of the first events that the service reads. */
export async function readValues(question: Question, by: GroupBy, signal: AbortSignal): Promise<Values> {
  const body = await service.aggregateEvents({ ...queryOf(question), group_by: by, limit: GROUPS_MAX }, { signal });
  return valuesAmong(body);
}

/** Returns the suggested values from a service response. */
export function valuesAmong({ groups, groups_count, groups_truncated, next_cursor }: AggregateBody): Values {
  const isAll = !groups_truncated && !next_cursor;
  const isComplete = isAll && groups_count <= groups.length;
  const numbers = groups.map(({ key }) => numberOf(key)).filter((number) => number !== null);
  const hasEnds = isComplete && numbers.length > 0 && numbers.length === groups.length;
  const end = (least: boolean): string | null =>
    hasEnds ? String(numbers.reduce((a, b) => (least === a < b ? a : b))) : null;
  return {
    groups: groups.slice(0, VALUES_MAX),
    count: isAll ? groups_count : null,
    least: end(true),
    greatest: end(false),
  };
}

/** Explains that more values exist than are listed; empty if the list is complete. */
export function cutText({ groups, count }: Values): string {
  if (groups.length === 0 || (count !== null && count <= groups.length)) return '';
  const most = groups.length === 1 ? 'The most frequent value' : `The ${groups.length} most frequent values`;
  return count === null ? `${most} of the counted events.` : `${most} of ${count.toLocaleString('en')}.`;
}
