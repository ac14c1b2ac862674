/** The clock of the service's host, as its answers tell it: that of this browser may be wrong. */

/** An answer tells whole seconds, and takes a while to come: what is less apart is the same. */
const SAME_MS = 2_000;

let aheadMs = 0;

/** Takes over when an answer was sent, by the service's host. */
export function syncHostClock(date: string | null, nowMs = Date.now()): void {
  const sent = Date.parse(date ?? '');
  if (Number.isNaN(sent)) return;
  const ahead = sent - nowMs;
  aheadMs = Math.abs(ahead) <= SAME_MS ? 0 : ahead;
}

/** Returns what the clock of the service's host shows, in milliseconds since 1970. */
export function hostNow(nowMs = Date.now()): number {
  return nowMs + aheadMs;
}
