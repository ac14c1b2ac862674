/** What events are told apart by, and the largest groups that makes: each has a color, and a lane where one likes. */
import { groupName, type GroupBy } from '../../../lib/events/filter';
import type { Micros } from '../../../lib/time/instant';
import type { EventBody, EventStore } from '../../../lib/events/store';

/** So many groups have a color of their own. The others share one. */
export const COLORS = 8;

export interface Group {
  key: string;
  count: number;
  /** The values of a class of numbers; a group without them is one value, its key. */
  values?: readonly string[];
}

/** Returns the values that a group is of. */
export const membersOf = ({ key, values }: Group): readonly string[] => values ?? [key];

export interface Legend {
  by: GroupBy;
  /** In the order of their colors. What had a color before keeps it, so the largest need not be the first. */
  groups: readonly Group[];
  /** All that were told, the largest first. */
  all: readonly Group[];
  /** How numbers were put into classes, which are the groups then; null where each group is a value. */
  classes: Classes | null;
  /** How many events are in none of them. */
  others: number;
  /** Whether there are so many groups that the service did not tell all: then counts may be too small. */
  isAbout: boolean;
  /** Whether there are events with several values. They count for each. */
  hasSeveral: boolean;
}

/** Classes of the same size: which multiples of the size the first and the last one begin at. */
export interface Classes {
  size: number;
  first: number;
  last: number;
}

/** Which groups are to have colors: the largest, unless somebody chose others. */
export interface Chosen {
  /** These have one in any case. */
  pins: readonly string[];
  /** So many of the largest ones have none. */
  skip: number;
  /** Whether each number is a group of its own, and not a class of them. */
  isEach?: boolean;
}
export const LARGEST: Chosen = { pins: [], skip: 0 };

export interface Span {
  from: Micros;
  to: Micros;
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

export function texts(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(texts);
  if (typeof value === 'string') return [value];
  if (typeof value === 'number' || typeof value === 'boolean') return [String(value)];
  return value === null ? ['null'] : [];
}

/** Returns which group each event of a store is in; the number of groups where it is in none. */
export function groupsOfStore(store: EventStore, legend: Legend): Uint8Array {
  const known = new Map(legend.groups.flatMap((group, index) => membersOf(group).map((value) => [value, index])));
  return Uint8Array.from({ length: store.count }, (_, row) => {
    const found = valuesOf(store.bodies[row]!, legend.by).map((value) => known.get(value) ?? COLORS);
    const first = Math.min(COLORS, ...found);
    return first === COLORS ? legend.groups.length : first;
  });
}
