/** Cache of event names and time precisions. Every part of the page that reads events fills it. */

interface CachedName {
  event_id: string;
  name?: string | null;
  description?: string | null;
  precision?: string | null;
}

const CACHED_MAX = 5_000;
/** Maximum length of a description that replaces a missing name. */
const SHORT = 72;
const known = new Map<string, { name: string; precision: string }>();

/** Returns the display name of an event: its name or the beginning of its description. Empty if it has neither. */
export function displayName({ name, description }: Pick<CachedName, 'name' | 'description'>): string {
  const text = name?.trim() || (description?.trim() ?? '');
  if (name?.trim() || text.length <= SHORT) return text;
  const prefix = text.slice(0, SHORT);
  const space = prefix.lastIndexOf(' ');
  return `${(space > SHORT / 2 ? prefix.slice(0, space) : prefix).replace(/[\s,;.:–-]+$/, '')}…`;
}

/** Returns the cached name of an event: empty if it has no name, undefined if it is not cached. */
export function knownName(timeline: string, eventId: string): string | undefined {
  return known.get(`${timeline} ${eventId}`)?.name;
}

/** Returns the cached precision of an event's time: empty if it is exact or not cached. */
export function knownPrecision(timeline: string, eventId: string): string {
  return known.get(`${timeline} ${eventId}`)?.precision ?? '';
}

export function cacheName(timeline: string, eventId: string, name: string, precision?: string | null): void {
  if (known.size >= CACHED_MAX) known.clear();
  known.set(`${timeline} ${eventId}`, { name, precision: precision ?? '' });
}

/** Caches the names of events in their current versions. */
export function cacheNames(timeline: string, events: Iterable<CachedName>): void {
  for (const event of events) cacheName(timeline, event.event_id, displayName(event), event.precision);
}
