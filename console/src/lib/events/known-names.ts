/** What events are called and when they are, as far as this page has read it: whoever reads events notes that here. */
import { parse, type Micros } from '../instant';

interface Named {
  event_id: string;
  name?: string | null;
  description?: string | null;
  time?: string;
  end_time?: string | null;
}

/** From when to when an event is; both are the same for a moment. */
export interface Span {
  from: Micros;
  to: Micros;
}

const KEPT_MAX = 5_000;
/** A description that stands for a name is cut off there. */
const SHORT = 72;
const kept = new Map<string, string>();
const spans = new Map<string, Span>();

/** Returns what to call an event: its name, or how its description begins. Nothing where it has neither. */
export function callName({ name, description }: Omit<Named, 'event_id'>): string {
  const text = name?.trim() || (description?.trim() ?? '');
  if (name?.trim() || text.length <= SHORT) return text;
  const cut = text.slice(0, SHORT);
  const blank = cut.lastIndexOf(' ');
  return `${(blank > SHORT / 2 ? cut.slice(0, blank) : cut).replace(/[\s,;.:–-]+$/, '')}…`;
}

/** Returns what an event is called: nothing if it has no name, undefined if that is not known. */
export function knownName(timeline: string, eventId: string): string | undefined {
  return kept.get(`${timeline} ${eventId}`);
}

export function keepName(timeline: string, eventId: string, name: string): void {
  if (kept.size >= KEPT_MAX) kept.clear();
  kept.set(`${timeline} ${eventId}`, name);
}

/** Returns when an event is; undefined if that is not known. */
export function knownSpan(timeline: string, eventId: string): Span | undefined {
  return spans.get(`${timeline} ${eventId}`);
}

export function keepSpan(timeline: string, eventId: string, { time, end_time }: Omit<Named, 'event_id'>): void {
  const from = parse(time ?? '');
  if (from === null) return;
  if (spans.size >= KEPT_MAX) spans.clear();
  spans.set(`${timeline} ${eventId}`, { from, to: parse(end_time ?? '') ?? from });
}

/** Notes the names of events that were read as they are now, and when they are. */
export function keepNames(timeline: string, events: Iterable<Named>): void {
  for (const event of events) {
    keepName(timeline, event.event_id, callName(event));
    keepSpan(timeline, event.event_id, event);
  }
}
