/** Lets a page of Playwright show a virtual clock. */
import * as host from './host-time.js';
import type { VirtualClock } from './virtual-clock.js';

/** What is used of Playwright's `Page`, or of its `BrowserContext`. */
export interface PageWithClock {
  clock: {
    setFixedTime(time: number): Promise<void>;
    setSystemTime(time: number): Promise<void>;
  };
}

export interface FollowOptions {
  /** How often the page is told the time where the clock runs at another rate than 1, in milliseconds. Defaults to 50. */
  everyMs?: number;
}

/** A page that follows a clock. */
export interface FollowedPage {
  /** Resolves when the page shows the last change that the clock has told. Rejects where the page could not be told. */
  settled(): Promise<void>;
  /** Ends it. The page goes on with what it shows. */
  stop(): Promise<void>;
}

/**
 * Makes `Date` in a page show a clock. Call it before the page is opened.
 *
 * Timers of the page keep the host's pace, as those of a program do whose host's clock is set: what sleeps ten seconds
 * sleeps ten. To let timers due in a jump fire, use Playwright's own `page.clock.fastForward`.
 */
export async function followClock(
  page: PageWithClock,
  clock: VirtualClock,
  options: FollowOptions = {},
): Promise<FollowedPage> {
  const { everyMs = 50 } = options;
  let failure: unknown = null;
  const show = async (): Promise<void> => {
    const { state, now } = clock.reading();
    // Playwright's clock goes at the host's pace or not at all.
    const isAtHostPace = state.isRunning && state.rateMicros === 1_000_000n;
    await (isAtHostPace ? page.clock.setSystemTime(now.toMillis()) : page.clock.setFixedTime(now.toMillis()));
  };
  await show();
  // One after the other, so that the page ends with the newest.
  let last = Promise.resolve();
  const then = (): Promise<void> => {
    last = last.then(show).catch((error: unknown) => void (failure ??= error));
    return last;
  };
  const ended = clock.onChange(then);
  const interval = host.startInterval(() => {
    if (failure === null && movesAtAnotherRate(clock)) void then();
  }, everyMs);
  const settled = async (): Promise<void> => {
    await last;
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- what the page rejected with
    if (failure !== null) throw failure;
  };
  const stop = async (): Promise<void> => {
    host.stopInterval(interval);
    ended();
    await last;
  };
  return { settled, stop };
}

function movesAtAnotherRate(clock: VirtualClock): boolean {
  try {
    const { state } = clock.reading();
    return state.isRunning && state.rateMicros !== 1_000_000n;
  } catch {
    return false;
  }
}
