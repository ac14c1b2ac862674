/**
 * Host time without requests. It is derived from a running clock with a known rate. The difference to the browser's
 * clock is kept for when the clock is paused.
 */
import { isAtEnd, type LiveClock } from '../../../lib/live/clock.svelte';
import { hostNow } from '../../../lib/time/host-clock';
import { SECOND, floorDiv, parse, type Micros } from '../../../lib/time/instant';

/** Update interval of the host time while the clock is paused. */
const STEP_MS = 1_000;

export class HostTime {
  now = $state<Micros | null>(null);
  /** Clock time minus host time at the same moment. */
  lead = $state<Micros | null>(null);
  /** Host time minus browser time, once a running clock has determined it. */
  #ahead: Micros | null = null;

  constructor(clock: () => LiveClock | null) {
    $effect(() => {
      const live = clock();
      const body = live?.body ?? null;
      if (live === null || body === null) return;
      // The current time of the clock: the body may be much older than this view.
      const [host, origin, virtualNow] = [parse(body.origin_host), parse(body.origin_virtual), live.exact()];
      // At the end of the calendar, the time since the origin is unknown.
      if (body.state === 'running' && host !== null && origin !== null && !isAtEnd(virtualNow)) {
        const passed = Number(virtualNow - origin) / body.rate;
        this.#ahead = host + BigInt(Math.round(passed)) - browserNow();
      }
    });
    const second = $derived(floorDiv(clock()?.now ?? 0n, SECOND));
    // If the clock changes every second, host time updates with it. A separate frame would double the cost.
    const isAlong = $derived(
      clock()?.body?.state === 'running' && (clock()?.body?.rate ?? 0) >= 1 && !isAtEnd(clock()?.now ?? 0n),
    );
    $effect(() => {
      const live = clock();
      if (live?.body == null) return;
      const step = (): void => {
        this.now = this.#ahead === null ? BigInt(hostNow()) * 1_000n : browserNow() + this.#ahead;
        this.lead = live.exact() - this.now;
      };
      step();
      if (isAlong) {
        void second;
        return;
      }
      const timer = setInterval(step, STEP_MS);
      return () => clearInterval(timer);
    });
  }
}

function browserNow(): Micros {
  return BigInt(Date.now()) * 1_000n;
}
