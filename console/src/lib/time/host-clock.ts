/** Host time of the service, estimated from response headers because the browser's clock may be wrong. */

/** `Date` has whole seconds and network delay. Smaller differences are ignored. */
const SAME_MS = 2_000;

let aheadMs = 0;

/** Updates the estimate from a `Date` header. */
export function syncHostClock(date: string | null, nowMs = Date.now()): void {
  const sent = Date.parse(date ?? '');
  if (Number.isNaN(sent)) return;
  const ahead = sent - nowMs;
  aheadMs = Math.abs(ahead) <= SAME_MS ? 0 : ahead;
}

/** Returns the service's host time in milliseconds since 1970. */
export function hostNow(nowMs = Date.now()): number {
  return nowMs + aheadMs;
}
