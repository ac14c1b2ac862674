/** Cache of the time spans of events that were read individually. */
import { parse, type Micros } from '../time/instant';

/** Start and end of an event. Both are equal for an instant. */
export interface Span {
  from: Micros;
  to: Micros;
}

const CACHED_MAX = 5_000;
const known = new Map<string, Span>();

/** Returns the cached span of an event, or undefined. */
export function knownSpan(timeline: string, eventId: string): Span | undefined {
  return known.get(`${timeline} ${eventId}`);
}

export function keepSpan(
  timeline: string,
  eventId: string,
  { time, end_time }: { time: string; end_time?: string | null },
): void {
  const from = parse(time);
  if (from === null) return;
  if (known.size >= CACHED_MAX) known.clear();
  known.set(`${timeline} ${eventId}`, { from, to: parse(end_time ?? '') ?? from });
}
