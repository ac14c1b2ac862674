/** When events are, as far as this page has read it one by one. */
import { parse, type Micros } from '../time/instant';

/** From when to when an event is; both are the same for a moment. */
export interface Span {
  from: Micros;
  to: Micros;
}

const KEPT_MAX = 5_000;
const kept = new Map<string, Span>();

/** Returns when an event is; undefined if that is not known. */
export function knownSpan(timeline: string, eventId: string): Span | undefined {
  return kept.get(`${timeline} ${eventId}`);
}

export function keepSpan(
  timeline: string,
  eventId: string,
  { time, end_time }: { time: string; end_time?: string | null },
): void {
  const from = parse(time);
  if (from === null) return;
  if (kept.size >= KEPT_MAX) kept.clear();
  kept.set(`${timeline} ${eventId}`, { from, to: parse(end_time ?? '') ?? from });
}
