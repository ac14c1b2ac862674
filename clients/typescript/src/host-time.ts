/**
 * The host's clocks and timers, captured when this module is loaded, so that fake timers installed later do not affect
 * them. Load the client before you install fake timers.
 */
const { setTimeout, clearTimeout, setInterval, clearInterval, performance, Date } = globalThis;
const now = performance.now.bind(performance);
const wall = Date.now.bind(Date);

/** Returns the host's monotonic time in whole microseconds. */
export function monotonicMicros(): bigint {
  return BigInt(Math.floor(now() * 1_000));
}

/** Returns the monotonic time after `timeoutMs` milliseconds, in microseconds; null for no limit. */
export function deadlineAfter(timeoutMs: number | undefined): bigint | null {
  return timeoutMs === undefined ? null : monotonicMicros() + BigInt(Math.round(timeoutMs * 1_000));
}

/**
 * Returns how far the host's wall clock is ahead of its monotonic clock, in milliseconds. The value changes if the wall
 * clock is set, or if the machine sleeps, because the monotonic clock of most systems stops during sleep.
 */
export function wallAheadMs(): number {
  return wall() - now();
}

/** The maximum delay of a timer. A timer with a longer delay fires at once. */
const TIMER_MS_MAX = 2_147_483_647;

export type Timer = ReturnType<typeof setTimeout>;

export function startTimer(action: () => void, ms: number): Timer {
  return setTimeout(action, Math.min(Math.max(ms, 0), TIMER_MS_MAX));
}

export function stopTimer(timer: Timer): void {
  clearTimeout(timer);
}

export function startInterval(action: () => void, ms: number): Timer {
  return setInterval(action, ms);
}

export function stopInterval(timer: Timer): void {
  clearInterval(timer);
}

/** Waits for the delay, or until the signal is aborted. Never rejects. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((done) => {
    if (signal?.aborted) {
      done();
      return;
    }
    const end = (): void => {
      stopTimer(timer);
      signal?.removeEventListener('abort', end);
      done();
    };
    const timer = startTimer(end, ms);
    signal?.addEventListener('abort', end);
  });
}
