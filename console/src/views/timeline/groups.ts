/** What events are told apart by, and the largest groups that makes: each has a color, and a lane where one likes. */
import { call } from '../../lib/api';
import { aggregate, readCounts, GROUPS_MAX, type AggregateBody, type Counts } from './counts';
import { demanded, groupName, narrowed, queryOf, type Filter, type GroupBy, type Question } from './filter';
import type { EventBody, EventStore } from './store';

/** So many groups have a color of their own. The others share one. */
export const COLORS = 8;

export interface Group {
  key: string;
  count: number;
}

export interface Legend {
  by: GroupBy;
  /** The largest ones first. */
  groups: readonly Group[];
  /** How many events are in none of them. */
  others: number;
  /** Whether there are so many groups that the service did not tell all: then counts may be too small. */
  isAbout: boolean;
  /** Whether only the events in sight are counted: all of time is still to come. */
  isPart: boolean;
  /** Whether there are events with several values. They count for each. */
  hasSeveral: boolean;
}

/** Counts the events of each group over all of time. */
export async function readLegend(question: Question, by: GroupBy, signal: AbortSignal): Promise<Legend> {
  const sums = new Map<string, number>();
  let [count, without, isAbout] = [0, 0, false];
  await aggregate(question, { by, limit: GROUPS_MAX }, null, signal, (body) => {
    for (const group of body.groups) sums.set(group.key, (sums.get(group.key) ?? 0) + group.count);
    count += body.count;
    without += body.without_count;
    isAbout ||= body.is_groups_cut || body.groups_count > body.groups.length;
  });
  return summed(by, demanded(question.filter, by), sums, { count, without, isAbout });
}

/** Counts the groups of a store, as `readLegend` does those of the service. */
export function legendOf(store: EventStore, filter: Filter, by: GroupBy): Legend {
  const sums = new Map<string, number>();
  let without = 0;
  for (const event of store.bodies) {
    const values = new Set(valuesOf(event, by));
    for (const value of values) sums.set(value, (sums.get(value) ?? 0) + 1);
    if (values.size === 0) without += 1;
  }
  return summed(by, demanded(filter, by), sums, { count: store.count, without, isAbout: false });
}

function summed(
  by: GroupBy,
  own: string,
  sums: ReadonlyMap<string, number>,
  { count, without, isAbout }: { count: number; without: number; isAbout: boolean },
): Legend {
  const all = [...sums].map(([key, sum]) => ({ key, count: sum }));
  all.sort((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1));
  // An event may have several actors: the one that was asked for has a color, those that accompany it have none.
  const groups = own === '' ? all.slice(0, COLORS) : all.filter((group) => group.key === own);
  const named = groups.reduce((sum, group) => sum + group.count, 0);
  const told = all.reduce((sum, group) => sum + group.count, 0);
  const others = Math.max(0, count - named);
  return { by, groups, others, isAbout, isPart: false, hasSeveral: told + without > count };
}

/** Counts each group in the stretches that are counted already, a few at a time. */
export async function readSeries(
  question: Question,
  { by, groups }: Legend,
  { step, from, to }: Counts,
  signal: AbortSignal,
): Promise<Counts[]> {
  const series: Counts[] = [];
  const rest = groups.map((group, index) => ({ group, index }));
  const work = async (): Promise<void> => {
    for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
      const asked = { ...question, filter: narrowed(question.filter, by, next.group.key) };
      series[next.index] = await readCounts(asked, step, { from, to }, signal, () => {});
    }
  };
  await Promise.all([work(), work()]);
  return series;
}

/** Returns what an event has of what events are told apart by, as texts. */
export function valuesOf(event: EventBody, by: GroupBy): string[] {
  if (by === 'actor') return event.actors ?? [];
  if (by === 'source') return event.source ? [event.source] : [];
  return texts(member(event.attributes ?? {}, groupName(by)));
}

/** A key that has a dot itself comes before one that leads into an object. */
function member(object: Record<string, unknown>, key: string): unknown {
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
  const body = await call<AggregateBody>('GET', 'v1/aggregate-events', {
    query: { ...queryOf(question), by, limit: VALUES_MAX },
    signal,
  });
  return body.groups;
}
