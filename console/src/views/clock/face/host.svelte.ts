/**
 * Host time, without asking for it. While a clock runs at a known rate, what it shows tells host time; the difference
 * to this browser's clock is kept for when it stands.
 */
import { isAtEnd, type LiveClock } from '../../../lib/live/clock.svelte';
import { hostNow } from '../../../lib/time/host-clock';
import { SECOND, floorDiv, parse, type Micros } from '../../../lib/time/instant';

/** How often the shown host time steps beside a clock that stands: it is a fact beside the clock, not a clock. */
const STEP_MS = 1_000;

export class HostTime {
  now = $state<Micros | null>(null);
  /** What the clock shows less host time, both at one moment. */
  lead = $state<Micros | null>(null);
  /** Host time less this browser's, once a clock that runs has told it. */
  #ahead: Micros | null = null;

  constructor(clock: () => LiveClock | null) {
    $effect(() => {
      const live = clock();
      const body = live?.body ?? null;
      if (live === null || body === null) return;
      // What it shows by now: the body may have come long before this view was opened.
      const [host, origin, virtualNow] = [parse(body.origin_host), parse(body.origin_virtual), live.exact()];
      // One that has come to the end of the calendar does not tell how long ago.
      if (body.state === 'running' && host !== null && origin !== null && !isAtEnd(virtualNow)) {
        const passed = Number(virtualNow - origin) / body.rate;
        this.#ahead = host + BigInt(Math.round(passed)) - browserNow();
      }
    });
    const second = $derived(floorDiv(clock()?.now ?? 0n, SECOND));
    // A clock that shows a second after the other takes host time along: a picture of its own would cost as much again.
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
