/** How fast a stretch of time is played, and where the head is. */
import type { Micros } from '../../../lib/time/instant';

export interface Speed {
  id: string;
  label: string;
  /** How many seconds of the timeline pass in one; null where all of it takes a fixed while. */
  rate: number | null;
}

/** So long it takes to play all that is shown. */
const WHOLE_MS = 30_000;
/** A page that was hidden goes on where it was, and does not jump. */
const STEP_MAX_MS = 250;
const POSITIONS = 1_000;

export const SPEEDS: readonly [Speed, ...Speed[]] = [
  { id: 'all', label: 'All in 30 s', rate: null },
  { id: '1', label: '1×', rate: 1 },
  { id: '10', label: '10×', rate: 10 },
  { id: '60', label: '60×', rate: 60 },
  { id: '3600', label: '3,600×', rate: 3_600 },
];

export function speedOf(id: string | null): Speed {
  return SPEEDS.find((speed) => speed.id === id) ?? SPEEDS[0];
}

interface Part {
  from: Micros;
  to: Micros;
}

/** Returns where the head is some milliseconds later, at the end of the part at most. */
export function stepped(head: Micros, passedMs: number, { rate }: Speed, { from, to }: Part): Micros {
  const passed = Math.max(0, Math.min(passedMs, STEP_MAX_MS));
  const ahead = rate === null ? (Number(to - from) * passed) / WHOLE_MS : passed * 1_000 * rate;
  const next = (head < from ? from : head) + BigInt(Math.max(1, Math.round(ahead)));
  return next > to ? to : next;
}

/** Returns which part of a slider the head is at. */
export function positionOf(head: Micros, { from, to }: Part): number {
  if (to <= from) return 0;
  return Math.max(0, Math.min(POSITIONS, Math.round((Number(head - from) / Number(to - from)) * POSITIONS)));
}

export function timeOf(position: number, { from, to }: Part): Micros {
  return from + ((to - from) * BigInt(Math.round(position))) / BigInt(POSITIONS);
}
