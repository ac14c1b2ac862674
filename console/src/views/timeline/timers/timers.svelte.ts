/** The timers that the axis shows: read with the timeline, and again when the clock has passed one or was moved. */
import { untrack } from 'svelte';
import { isAborted } from '../../../lib/service/api';
import type { LiveClock } from '../../../lib/live/clock.svelte';
import { mayMoveClock } from '../../../lib/session/rights';
import { foresee, readTimer, readTimers, type Firing, type Timer, type WouldFire } from '../../../lib/timers/timers';
import { WatchedTimers } from '../../../lib/timers/watched.svelte';
import { isRepeating } from '../../../lib/timers/words';
import { marksOf, type TimerMark } from './timer-lane';

const ARMED_MAX = 200;
const DONE_MAX = 100;
/** Of so many timers the firings are read one by one. */
const DETAILS_MAX = 8;
/** How far ahead the moments of rules are drawn. */
const AHEAD = 'P1Y';
/** Each reading is an entry of the ledger: with the clock at a high rate, what fired is read no more often. */
const REST_MS = 30_000;

export class AxisTimers {
  marks = $derived.by<readonly TimerMark[]>(() =>
    marksOf(this.#watched.timers, this.#done, this.#firings, this.#coming),
  );
  #done = $state.raw<readonly Timer[]>([]);
  #firings = $state.raw<readonly Firing[]>([]);
  #coming = $state.raw<WouldFire['firings']>([]);
  readonly #watched: WatchedTimers;
  #asking = new AbortController();
  #requestedAt = -REST_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly timeline: string,
    clock: () => LiveClock | null,
  ) {
    this.#watched = new WatchedTimers(timeline, clock, { limit: ARMED_MAX, isPolling: false });
    $effect(() => {
      void this.#watched.timers;
      if (!this.#watched.isRead) return;
      untrack(() => {
        const wait = Math.max(0, REST_MS - (performance.now() - this.#requestedAt));
        this.#timer ??= setTimeout(() => void this.#read(), wait);
      });
    });
  }

  async #read(): Promise<void> {
    this.#timer = undefined;
    this.#requestedAt = performance.now();
    this.#asking.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    const armed = this.#watched.timers;
    const rules = armed.filter(isRepeating);
    try {
      this.#done = (await readTimers(this.timeline, { state: 'done', limit: DONE_MAX, signal })).timers;
      const detailed = [...rules, ...this.#done].slice(0, DETAILS_MAX);
      const found = await Promise.all(detailed.map(({ timer_id }) => readTimer(this.timeline, timer_id, signal)));
      this.#firings = found.flatMap(({ firings }) => firings);
      const isForeseen = rules.length > 0 && mayMoveClock(this.timeline).may;
      this.#coming = isForeseen ? (await foresee(this.timeline, { duration: AHEAD }, signal)).firings : [];
    } catch (error) {
      // The axis is right without them; the view of timers says what is wrong.
      if (!isAborted(error)) this.#coming = [];
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#asking.abort();
    this.#watched.close();
  }
}
