/** When events are, as far as this page has read it one by one. */
import { parse, type Micros } from '../time/instant';

/** From when to when an event is; both are the same for a moment. */
export interface Span {
  from: Micros;
  to: Micros;
}

const CACHED_MAX = 5_000;
const known = new Map<string, Span>();

/** Returns when an event is; undefined if that is not known. */
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
