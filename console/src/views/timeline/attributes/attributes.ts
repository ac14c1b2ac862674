/** Attribute paths of events, including nested ones, that can be used for colors and values. */
import type { GroupBy } from '../../../lib/events/filter';
import type { EventBody } from '../../../lib/events/store';
import { texts } from '../groups/groups';
import { numberOf } from './numbers';

/** Nesting depth of suggested attributes; deeper paths can be typed. */
const DEPTH_MAX = 6;

/** Returns the leaf values of an object with their dotted paths. */
export function leaves(object: object, before = '', depth = 1): [path: string, value: unknown][] {
  return Object.entries(object).flatMap(([key, value]: [string, unknown]): [string, unknown][] =>
    typeof value !== 'object' || value === null || Array.isArray(value)
      ? [[before + key, value]]
      : depth < DEPTH_MAX
        ? leaves(value, `${before}${key}.`, depth + 1)
        : [],
  );
}

/** Returns distinct names, the most frequent first. */
function ranked(namesOf: readonly (readonly string[])[]): string[] {
  const counts = new Map<string, number>();
  for (const names of namesOf) for (const name of new Set(names)) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).map(([name]) => name);
}

/** Returns the attributes by which the events can be grouped, the most frequent first. */
export function groupings(events: readonly EventBody[]): GroupBy[] {
  return ranked(
    events.map(({ actors, source, attributes }) => [
      ...(actors?.length ? ['actor'] : []),
      ...(source ? ['source'] : []),
      ...leaves(attributes ?? {}).flatMap(([path, value]) => (texts(value).length > 0 ? [`attribute.${path}`] : [])),
    ]),
  );
}

/** Returns the numeric attributes of events, the most frequent first. */
export function measures(events: readonly EventBody[]): string[] {
  return ranked(
    events.map(({ attributes }) =>
      leaves(attributes ?? {}).flatMap(([path, value]) => (numberOf(value) === null ? [] : [path])),
    ),
  );
}
