/** What events are told apart by, and the largest groups that makes: each has a color, and a lane where one likes. */
import { service } from '../../lib/api';
import { aggregate, readCounts, GROUPS_MAX, type Counts } from '../../lib/events/counts';
import {
  demanded,
  groupName,
  narrowed,
  queryOf,
  type Filter,
  type GroupBy,
  type Question,
} from '../../lib/events/filter';
import type { Micros } from '../../lib/instant';
import type { EventBody, EventStore } from '../../lib/events/store';

/** So many groups have a color of their own. The others share one. */
export const COLORS = 8;

export interface Group {
  key: string;
  count: number;
}

export interface Legend {
  by: GroupBy;
  /** In the order of their colors. What had a color before keeps it, so the largest need not be the first. */
  groups: readonly Group[];
  /** All that were told, the largest first. */
  all: readonly Group[];
  /** How many events are in none of them. */
  others: number;
  /** Whether there are so many groups that the service did not tell all: then counts may be too small. */
  isAbout: boolean;
  /** Whether there are events with several values. They count for each. */
  hasSeveral: boolean;
}

/** Which groups are to have colors: the largest, unless somebody chose others. */
export interface Chosen {
  /** These have one in any case. */
  pins: readonly string[];
  /** So many of the largest ones have none. */
  skip: number;
}
export const LARGEST: Chosen = { pins: [], skip: 0 };

export interface Span {
  from: Micros;
  to: Micros;
}

/** Counts the events of each group in a time, both ends included. */
export async function readLegend(
  question: Question,
  by: GroupBy,
  range: Span,
  before: Legend | null,
  chosen: Chosen,
  signal: AbortSignal,
): Promise<Legend> {
  const sums = new Map<string, number>();
  let [count, without, isAbout] = [0, 0, false];
  await aggregate(question, { by, limit: GROUPS_MAX }, range, signal, (body) => {
    for (const group of body.groups) sums.set(group.key, (sums.get(group.key) ?? 0) + group.count);
    count += body.count;
    without += body.without_count;
    isAbout ||= body.is_groups_cut || body.groups_count > body.groups.length;
  });
  return summed(by, demanded(question.filter, by), sums, { count, without, isAbout }, before, chosen);
}

/** Counts the groups in a time of a store, as `readLegend` does those of the service. */
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
  // What began before and still lasts is in sight too.
  const [first, last] = [store.lowerBound(from), store.lowerBound(to + 1n)];
  const events = store.bodies.filter((_, row) => row < last && (row >= first || reaches(store, row, from)));
  for (const event of events) {
    const values = new Set(valuesOf(event, by));
    for (const value of values) sums.set(value, (sums.get(value) ?? 0) + 1);
    if (values.size === 0) without += 1;
  }
  return summed(by, demanded(filter, by), sums, { count: events.length, without, isAbout: false }, before, chosen);
}

const reaches = (store: EventStore, row: number, instant: Micros): boolean =>
  store.lengths[row]! > 0 && store.time(row) + BigInt(Math.round(store.lengths[row]!)) > instant;

function summed(
  by: GroupBy,
  own: string,
  sums: ReadonlyMap<string, number>,
  { count, without, isAbout }: { count: number; without: number; isAbout: boolean },
  before: Legend | null,
  chosen: Chosen,
): Legend {
  const all = [...sums].map(([key, sum]) => ({ key, count: sum }));
  all.sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
  // An event may have several actors: the one that was asked for has a color, those that accompany it have none.
  const colored = own === '' ? withColors(all, chosen, sums) : all.filter((group) => group.key === own);
  const groups = inPlaces(colored, before);
  const named = groups.reduce((sum, group) => sum + group.count, 0);
  const told = all.reduce((sum, group) => sum + group.count, 0);
  const others = Math.max(0, count - named);
  return { by, groups, all, others, isAbout, hasSeveral: told + without > count };
}

/** Returns the groups that have colors: those that are pinned, also where they have no events, and the next ones. */
function withColors(all: readonly Group[], { pins, skip }: Chosen, sums: ReadonlyMap<string, number>): Group[] {
  const pinned = pins.slice(0, COLORS).map((key) => ({ key, count: sums.get(key) ?? 0 }));
  const free = all.filter(({ key }) => !pins.includes(key));
  const places = COLORS - pinned.length;
  // There may be fewer groups in sight than where somebody chose: then the last ones have colors.
  const first = Math.min(skip, Math.max(0, free.length - places));
  return [...pinned, ...free.slice(first, first + places)];
}

/** Leaves groups in the places that they had, as far as there are so many, and puts the new ones between them. */
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

/** A browser has six connections to a service, and needs some for what is looked at meanwhile. */
const SERIES_AT_ONCE = 4;

/** Counts each of some groups in the stretches that are counted already, a few groups at a time. */
export async function readSeries(
  question: Question,
  by: GroupBy,
  keys: readonly string[],
  { step, from, to }: Counts,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Counts>> {
  const series = new Map<string, Counts>();
  const rest = [...keys];
  const work = async (): Promise<void> => {
    for (let key = rest.shift(); key !== undefined; key = rest.shift()) {
      const asked = { ...question, filter: narrowed(question.filter, by, key) };
      series.set(key, await readCounts(asked, step, { from, to }, signal, () => {}));
    }
  };
  await Promise.all(Array.from({ length: SERIES_AT_ONCE }, work));
  return series;
}

/** Returns what an event has of what events are told apart by, as texts. */
export function valuesOf(event: EventBody, by: GroupBy): string[] {
  if (by === 'actor') return event.actors ?? [];
  if (by === 'source') return event.source ? [event.source] : [];
  return texts(member(event.attributes ?? {}, groupName(by)));
}

/** A key that has a dot itself comes before one that leads into an object. */
export function member(object: Record<string, unknown>, key: string): unknown {
  if (key in object) return object[key];
  for (let dot = key.indexOf('.'); dot > 0; dot = key.indexOf('.', dot + 1)) {
    const inner = object[key.slice(0, dot)];
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) continue;
    const found = member(inner as Record<string, unknown>, key.slice(dot + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

function texts(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(texts);
  if (typeof value === 'string') return [value];
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)];
  return value === null ? ['null'] : [];
}

/** Returns which group each event of a store is in; the number of groups where it is in none. */
export function groupsOfStore(store: EventStore, legend: Legend): Uint8Array {
  const known = new Map(legend.groups.map((group, index) => [group.key, index]));
  return Uint8Array.from({ length: store.count }, (_, row) => {
    const found = valuesOf(store.bodies[row]!, legend.by).map((value) => known.get(value) ?? COLORS);
    const first = Math.min(COLORS, ...found);
    return first === COLORS ? legend.groups.length : first;
  });
}

/** Returns by what the events can be told apart, those that most have first. */
export function groupings(events: readonly EventBody[]): GroupBy[] {
  const counts = new Map<GroupBy, number>();
  const add = (by: GroupBy): void => void counts.set(by, (counts.get(by) ?? 0) + 1);
  for (const event of events) {
    if (event.actors?.length) add('actor');
    if (event.source) add('source');
    for (const [key, value] of Object.entries(event.attributes ?? {}))
      if (texts(value).length > 0) add(`attribute.${key}`);
  }
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([by]) => by);
}

const VALUES_MAX = 40;

/** Returns the most frequent values, of the first events that the service looks through. */
export async function readValues(question: Question, by: GroupBy, signal: AbortSignal): Promise<Group[]> {
  const body = await service.aggregateEvents({ ...queryOf(question), by, limit: VALUES_MAX }, { signal });
  return body.groups;
}
