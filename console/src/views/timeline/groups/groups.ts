/** Groups of events by an attribute. The largest groups have a color, and optionally a lane. */
import { groupName, type GroupBy } from '../../../lib/events/filter';
import type { Micros } from '../../../lib/time/instant';
import type { EventBody, EventStore } from '../../../lib/events/store';

/** Number of groups with their own color; all others share one. */
export const COLORS = 8;

export interface Group {
  key: string;
  count: number;
  /** The values of a class of numbers; a group without `values` has the single value `key`. */
  values?: readonly string[];
}

/** Returns the values of a group. */
export const membersOf = ({ key, values }: Group): readonly string[] => values ?? [key];

export interface Legend {
  by: GroupBy;
  /** In the order of their colors. Groups keep their previous color, so the largest need not be first. */
  groups: readonly Group[];
  /** All returned groups, the largest first. */
  all: readonly Group[];
  /** The classes of numbers that form the groups; null if each group is a value. */
  classes: Classes | null;
  /** Number of events outside all colored groups. */
  others: number;
  /** Whether the service truncated the groups, so that counts may be too small. */
  isAbout: boolean;
  /** Whether there are events with several values, which count for each. */
  hasSeveral: boolean;
}

/** Classes of equal size; `first` and `last` are the multiples of `size` at which the first and last class start. */
export interface Classes {
  size: number;
  first: number;
  last: number;
}

/** Groups with colors: by default the largest ones. */
export interface GroupSelection {
  /** Groups that always have a color. */
  pins: readonly string[];
  /** Number of the largest groups to skip. */
  skip: number;
  /** Whether each number is its own group instead of part of a class. */
  isEach?: boolean;
}
export const LARGEST: GroupSelection = { pins: [], skip: 0 };

export interface Span {
  from: Micros;
  to: Micros;
}

/** Returns the values of an event for a grouping attribute, as strings. */
export function valuesOf(event: EventBody, by: GroupBy): string[] {
  if (by === 'actor') return event.actors ?? [];
  if (by === 'source') return event.source ? [event.source] : [];
  return texts(member(event.attributes ?? {}, groupName(by)));
}

/** Resolves a dotted path. A key that contains dots takes precedence over a nested object. */
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

/** Returns the group index of each event in a store; the number of groups for an event outside all groups. */
export function groupsOfStore(store: EventStore, legend: Legend): Uint8Array {
  const known = new Map(legend.groups.flatMap((group, index) => membersOf(group).map((value) => [value, index])));
  return Uint8Array.from({ length: store.count }, (_, row) => {
    const found = valuesOf(store.bodies[row]!, legend.by).map((value) => known.get(value) ?? COLORS);
    const first = Math.min(COLORS, ...found);
    return first === COLORS ? legend.groups.length : first;
  });
}
