/** Lets `Date` show a virtual clock, and timers go by it, by way of `@sinonjs/fake-timers`. */
import FakeTimers from '@sinonjs/fake-timers';
import type { ClockChange } from './follower.js';
import * as host from './host-time.js';
import type { VirtualClock } from './virtual-clock.js';

type Faked = NonNullable<NonNullable<Parameters<typeof FakeTimers.install>[0]>['toFake']>;

export interface FollowOptions {
  /** What is faked. Defaults to `Date`, `setTimeout`, `setInterval` and what clears them. */
  toFake?: Faked;
  /** How often time moves while the clock runs, in milliseconds of host time. Defaults to 10. */
  everyMs?: number;
}

const TO_FAKE: Faked = ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'];

/**
 * Follows a clock until what is returned is called.
 *
 * While the clock runs, timers fire when it has shown their time. After a jump forward those that are due fire once, as
 * after a sleep of the machine; a jump back fires none, and each has as long to go as before. Where the clock cannot be
 * vouched for, time stands still.
 */
export function follow(clock: VirtualClock, options: FollowOptions = {}): () => void {
  const { toFake = TO_FAKE, everyMs = 10 } = options;
  const fake = FakeTimers.install({ now: clock.millis(), toFake, shouldClearNativeTimers: true });
  const move = (isJump: boolean): void => {
    const distance = readMillis(clock, fake.now) - fake.now;
    if (distance < 0) fake.setSystemTime(fake.now + distance);
    else if (distance > 0 && isJump) fake.jump(distance);
    else if (distance > 0) fake.tick(distance);
  };
  const ended = clock.onChange((change: ClockChange) => move(change.jumpMicros !== 0n));
  const interval = host.startInterval(() => move(false), everyMs);
  return () => {
    host.stopInterval(interval);
    ended();
    fake.uninstall();
  };
}

/** Returns what the clock shows; where it cannot say, what was shown last. */
function readMillis(clock: VirtualClock, otherwise: number): number {
  try {
    return clock.millis();
  } catch {
    return otherwise;
  }
}
