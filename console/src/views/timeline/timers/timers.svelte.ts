/** Timers of the axis: loaded with the timeline, and again when the clock passes one or is moved. */
import { untrack } from 'svelte';
import { isAborted } from '../../../lib/service/api';
import type { LiveClock } from '../../../lib/live/clock.svelte';
import { mayMoveClock } from '../../../lib/session/rights';
import {
  forecastFirings,
  readTimer,
  readTimers,
  type Firing,
  type Timer,
  type FiringForecast,
} from '../../../lib/timers/timers';
import { WatchedTimers } from '../../../lib/timers/watched.svelte';
import { isRepeating } from '../../../lib/timers/words';
import { marksOf, type TimerMark } from './timer-lane';

const ARMED_MAX = 200;
const DONE_MAX = 100;
/** Number of timers whose firings are loaded individually. */
const DETAILS_MAX = 8;
/** How far ahead scheduled firings of rules are drawn. */
const AHEAD = 'P1Y';
/** Minimum interval between reads, since each is a ledger entry and a fast clock fires often. */
const READ_INTERVAL_MS = 30_000;

export class AxisTimers {
  marks = $derived.by<readonly TimerMark[]>(() =>
    marksOf(this.#watched.timers, this.#done, this.#firings, this.#coming),
  );
  #done = $state.raw<readonly Timer[]>([]);
  #firings = $state.raw<readonly Firing[]>([]);
  #coming = $state.raw<FiringForecast['firings']>([]);
  readonly #watched: WatchedTimers;
  #request = new AbortController();
  #requestedAt = -READ_INTERVAL_MS;
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
        const wait = Math.max(0, READ_INTERVAL_MS - (performance.now() - this.#requestedAt));
        this.#timer ??= setTimeout(() => void this.#read(), wait);
      });
    });
    $effect(() => () => {
      clearTimeout(this.#timer);
      this.#request.abort();
    });
  }

  async #read(): Promise<void> {
    this.#timer = undefined;
    this.#requestedAt = performance.now();
    this.#request.abort();
    this.#request = new AbortController();
    const { signal } = this.#request;
    const armed = this.#watched.timers;
    const rules = armed.filter(isRepeating);
    try {
      this.#done = (await readTimers(this.timeline, { state: 'done', limit: DONE_MAX, signal })).timers;
      const detailed = [...rules, ...this.#done].slice(0, DETAILS_MAX);
      const found = await Promise.all(detailed.map(({ timer_id }) => readTimer(this.timeline, timer_id, signal)));
      this.#firings = found.flatMap(({ firings }) => firings);
      const isForecast = rules.length > 0 && mayMoveClock(this.timeline).may;
      this.#coming = isForecast ? (await forecastFirings(this.timeline, { duration: AHEAD }, signal)).firings : [];
    } catch (error) {
      // The axis is correct without them; the timers view reports the error.
      if (!isAborted(error)) this.#coming = [];
    }
  }
}
