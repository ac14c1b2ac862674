/** An adapter that makes a Playwright page show a virtual clock. */
import * as host from './host-time.js';
import type { VirtualClock } from './virtual-clock.js';

/** The part of Playwright's `Page` and `BrowserContext` that the adapter uses. */
export interface PageWithClock {
  clock: {
    setFixedTime(time: number): Promise<void>;
    setSystemTime(time: number): Promise<void>;
  };
}

/** Options of `followClock`. */
export interface FollowOptions {
  /** The update interval of the page's time, in milliseconds, if the rate of the clock is not 1. Defaults to 50. */
  intervalMs?: number;
}

/** A page that follows a clock. */
export interface FollowedPage {
  /** Resolves when the page shows the last change received by the clock. Rejects if the page could not be updated. */
  updated(): Promise<void>;
  /** Stops following the clock. The time of the page continues from its current value. */
  stop(): Promise<void>;
}

/**
 * Makes `Date` in a page show a clock. Call it before opening the page.
 *
 * Timers of the page run at the host's pace, as if the system clock had been set: a delay of ten seconds takes ten
 * seconds. To fire the timers that a jump passes, use Playwright's `page.clock.fastForward`.
 */
export async function followClock(
  page: PageWithClock,
  clock: VirtualClock,
  options: FollowOptions = {},
): Promise<FollowedPage> {
  const { intervalMs = 50 } = options;
  let failure: unknown = null;
  const show = async (): Promise<void> => {
    const { state, now } = clock.reading();
    // Playwright's clock supports only the host's pace, or a fixed time.
    const isAtHostPace = state.isRunning && state.rateMicros === 1_000_000n;
    await (isAtHostPace ? page.clock.setSystemTime(now.toMillis()) : page.clock.setFixedTime(now.toMillis()));
  };
  await show();
  // Updates run one at a time, so that the page ends with the newest one.
  let last = Promise.resolve();
  const update = (): Promise<void> => {
    last = last.then(show).catch((error: unknown) => void (failure ??= error));
    return last;
  };
  const removeListener = clock.onChange(update);
  const interval = host.startInterval(() => {
    if (failure === null && runsAtAnotherRate(clock)) void update();
  }, intervalMs);
  const updated = async (): Promise<void> => {
    await last;
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- rethrows the page's own rejection
    if (failure !== null) throw failure;
  };
  const stop = async (): Promise<void> => {
    host.stopInterval(interval);
    removeListener();
    await last;
  };
  return { updated, stop };
}

function runsAtAnotherRate(clock: VirtualClock): boolean {
  try {
    const { state } = clock.reading();
    return state.isRunning && state.rateMicros !== 1_000_000n;
  } catch {
    return false;
  }
}
