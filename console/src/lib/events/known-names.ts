/**
 * What events are called, and how exactly it is known when they are, as far as this page has read it: whoever reads
 * events notes it here.
 */

interface Named {
  event_id: string;
  name?: string | null;
  description?: string | null;
  precision?: string | null;
}

const CACHED_MAX = 5_000;
/** A description that stands for a name is cut off there. */
const SHORT = 72;
const known = new Map<string, { name: string; precision: string }>();

/** Returns what to call an event: its name, or how its description begins. Nothing where it has neither. */
export function callName({ name, description }: Pick<Named, 'name' | 'description'>): string {
  const text = name?.trim() || (description?.trim() ?? '');
  if (name?.trim() || text.length <= SHORT) return text;
  const cut = text.slice(0, SHORT);
  const blank = cut.lastIndexOf(' ');
  return `${(blank > SHORT / 2 ? cut.slice(0, blank) : cut).replace(/[\s,;.:–-]+$/, '')}…`;
}

/** Returns what an event is called: nothing if it has no name, undefined if that is not known. */
export function knownName(timeline: string, eventId: string): string | undefined {
  return known.get(`${timeline} ${eventId}`)?.name;
}

/** Returns the precision of an event's time: nothing if it is exact, or not known here. */
export function knownPrecision(timeline: string, eventId: string): string {
  return known.get(`${timeline} ${eventId}`)?.precision ?? '';
}

export function keepName(timeline: string, eventId: string, name: string, precision?: string | null): void {
  if (known.size >= CACHED_MAX) known.clear();
  known.set(`${timeline} ${eventId}`, { name, precision: precision ?? '' });
}

/** Notes the names of events that were read as they are now. */
export function keepNames(timeline: string, events: Iterable<Named>): void {
  for (const event of events) keepName(timeline, event.event_id, callName(event), event.precision);
}
