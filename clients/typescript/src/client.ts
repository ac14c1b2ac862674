import { Calls } from './calls.js';
import { BOUNDS, type Bounds } from './follower.js';
import { Settings, type ClientOptions } from './settings.js';
import { VirtualClock } from './virtual-clock.js';

/** How a clock is opened. */
export interface ClockOptions extends Partial<Bounds> {
  /** How long to wait for the service to tell the clock. Defaults to 10 seconds. */
  timeoutMs?: number;
}

/**
 * A service, and who asks it.
 *
 * Without options the service is that of `TIMENAV_URL`, the key that of `TIMENAV_API_KEY`, and the timeline that of
 * `TIMENAV_TIMELINE`, or the one that the key is bound to.
 */
export class Client extends Calls {
  constructor(options: ClientOptions = {}) {
    super(new Settings(options));
  }

  /**
   * Subscribes to a timeline's clock, and resolves once it is known.
   *
   * The clock throws `ClockStale` rather than showing a time that the service has not confirmed for `staleAfter`
   * seconds, or for `lostAfter` seconds after the connection was lost.
   */
  virtualClock(timelineId?: string, options: ClockOptions = {}): Promise<VirtualClock> {
    const { timeoutMs = 10_000, ...bounds } = options;
    return VirtualClock.open(
      this.settings,
      timelineId ?? this.settings.timelineId,
      { ...BOUNDS, ...bounds },
      timeoutMs,
    );
  }
}
