/** An adapter that makes `Date` and timers follow a virtual clock, with `@sinonjs/fake-timers`. */
import FakeTimers from '@sinonjs/fake-timers';
import type { ClockChange } from './follower.js';
import * as host from './host-time.js';
import type { VirtualClock } from './virtual-clock.js';

type Faked = NonNullable<NonNullable<Parameters<typeof FakeTimers.install>[0]>['toFake']>;

/** Options of `follow`. */
export interface FollowOptions {
  /** The functions to fake. Defaults to `Date`, `setTimeout`, `setInterval` and the functions that clear them. */
  toFake?: Faked;
  /** The update interval while the clock runs, in milliseconds of host time. Defaults to 10. */
  intervalMs?: number;
}

const TO_FAKE: Faked = ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'];

/**
 * Makes `Date` and timers follow a clock. Returns a function that restores them.
 *
 * While the clock runs, timers fire when it reaches their time. After a jump forward, each due timer fires once, as
 * after a system sleep. After a jump back, no timer fires, and timers keep their remaining delay. While the clock
 * cannot be read, the time is frozen.
 */
export function follow(clock: VirtualClock, options: FollowOptions = {}): () => void {
  const { toFake = TO_FAKE, intervalMs = 10 } = options;
  const fake = FakeTimers.install({ now: clock.millis(), toFake, shouldClearNativeTimers: true });
  const move = (isJump: boolean): void => {
    const distance = readMillis(clock, fake.now) - fake.now;
    if (distance < 0) fake.setSystemTime(fake.now + distance);
    else if (distance > 0 && isJump) fake.jump(distance);
    else if (distance > 0) fake.tick(distance);
  };
  const removeListener = clock.onChange((change: ClockChange) => move(change.jumpMicros !== 0n));
  const interval = host.startInterval(() => move(false), intervalMs);
  return () => {
    host.stopInterval(interval);
    removeListener();
    fake.uninstall();
  };
}

/** Returns the clock's reading, or the last one if the clock cannot be read. */
function readMillis(clock: VirtualClock, fallback: number): number {
  try {
    return clock.millis();
  } catch {
    return fallback;
  }
}
