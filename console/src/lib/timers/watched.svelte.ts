/** A page of timers. Reloaded when the clock passes one of them or is moved, and periodically for new ones. */
import { untrack } from 'svelte';
import { isAborted } from '../service/api';
import type { LiveClock } from '../live/clock.svelte';
import { parse, type Micros, wholeSecond } from '../time/instant';
import { readTimers, type Timer, type TimerState } from './timers';

/** Minimum interval between reads, for clocks at a high rate. */
const AGAIN_MS = 5_000;
/** Setting or canceling a timer sends no message, so visible pages poll at this interval. */
const POLL_MS = 60_000;

interface Options {
  /** Page size. */
  limit: number;
  /** Whether to poll for new timers. */
  isPolling: boolean;
}

export class WatchedTimers {
  /** Armed timers are sorted by due time. */
  timers = $state.raw<Timer[]>([]);
  hasMore = $state(false);
  isRead = $state(false);
  isBusy = $state(false);
  error = $state.raw<unknown>(null);
  /** Due time of the first timer. */
  next = $derived<Micros | null>(parse(this.timers[0]?.next ?? ''));
  /** Cursor of the next page. */
  nextCursor = $state<string | null>(null);
  #page: { state: TimerState; cursor: string | null } = { state: 'armed', cursor: null };
  #abort = new AbortController();
  #requestedAt = -AGAIN_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly timeline: string,
    clock: () => LiveClock | null,
    private readonly options: Options,
  ) {
    // The clock was changed, or an advance reached another instant.
    $effect(() => {
      const body = clock()?.body;
      if (!body) return;
      void [body.generation, body.advance?.step];
      untrack(() => this.soon(this.isRead && body.advance ? AGAIN_MS : 0));
    });
    $effect(() => () => {
      clearTimeout(this.#timer);
      this.#abort.abort();
    });
    // Changes while the page was hidden were missed.
    $effect(() => {
      const seen = (): void => {
        if (document.visibilityState === 'visible' && this.isRead) this.soon();
      };
      document.addEventListener('visibilitychange', seen);
      return () => document.removeEventListener('visibilitychange', seen);
    });
    const second = $derived(wholeSecond(clock()?.now ?? 0n));
    const isPassed = $derived(this.next !== null && this.next <= second);
    $effect(() => {
      if (isPassed) untrack(() => this.soon());
    });
    $effect(() => {
      if (!options.isPolling) return;
      const timer = setInterval(() => {
        if (document.visibilityState === 'visible') void this.read();
      }, POLL_MS);
      return () => clearInterval(timer);
    });
  }

  /** Schedules a read; immediate if the last one was long enough ago. */
  soon(rest = AGAIN_MS): void {
    if (rest > 0 && this.#timer !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.read(), Math.max(0, rest - (performance.now() - this.#requestedAt)));
  }

  /** Reads another page. */
  show(state: TimerState, cursor: string | null): void {
    this.#page = { state, cursor };
    void this.read();
  }

  async read(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#abort.abort();
    this.#abort = new AbortController();
    this.#requestedAt = performance.now();
    const { signal } = this.#abort;
    this.isBusy = true;
    try {
      const page = await readTimers(this.timeline, { ...this.#page, limit: this.options.limit, signal });
      this.timers = page.timers;
      this.nextCursor = page.next_cursor ?? null;
      this.hasMore = page.has_more;
      this.isRead = true;
      this.error = null;
    } catch (error) {
      if (isAborted(error)) return;
      this.error = error;
    }
    this.isBusy = false;
  }
}
