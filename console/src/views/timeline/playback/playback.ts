/** Speed and position of the playback. */
import type { Micros } from '../../../lib/time/instant';

interface Speed {
  id: string;
  label: string;
  /** Seconds of the timeline per real second; null to play the whole range in a fixed time. */
  rate: number | null;
}

/** Time to play the whole range. */
const WHOLE_MS = 30_000;
/** Maximum step, so that playback continues without a jump after the page was hidden. */
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

/** Returns the position after some milliseconds, at most the end of the range. */
export function stepped(head: Micros, passedMs: number, { rate }: Speed, { from, to }: Part): Micros {
  const passed = Math.max(0, Math.min(passedMs, STEP_MAX_MS));
  const ahead = rate === null ? (Number(to - from) * passed) / WHOLE_MS : passed * 1_000 * rate;
  const next = (head < from ? from : head) + BigInt(Math.max(1, Math.round(ahead)));
  return next > to ? to : next;
}

/** Returns the slider value of a position. */
export function positionOf(head: Micros, { from, to }: Part): number {
  if (to <= from) return 0;
  return Math.max(0, Math.min(POSITIONS, Math.round((Number(head - from) / Number(to - from)) * POSITIONS)));
}

export function timeOf(position: number, { from, to }: Part): Micros {
  return from + ((to - from) * BigInt(Math.round(position))) / BigInt(POSITIONS);
}
