/** A page of timers, read again when the clock has passed one of them or was moved, and now and then for new ones. */
import { untrack } from 'svelte';
import { isAborted } from '../service/api';
import type { LiveClock } from '../live/clock.svelte';
import { SECOND, floorDiv, parse, type Micros } from '../time/instant';
import { readTimers, type Timer, type TimerState } from './timers';

/** With the clock at a high rate, they are read no more often. */
const AGAIN_MS = 5_000;
/** No message tells that a timer was set or cancelled: a page that somebody looks at asks so often. */
const POLL_MS = 60_000;

interface Options {
  /** How many are read. */
  limit: number;
  /** Whether to look for new ones while nothing moves. */
  isPolling: boolean;
}

export class WatchedTimers {
  /** Those that are armed by their next moment. */
  timers = $state.raw<Timer[]>([]);
  hasMore = $state(false);
  isRead = $state(false);
  isBusy = $state(false);
  error = $state.raw<unknown>(null);
  /** When the first of them fires. */
  next = $derived<Micros | null>(parse(this.timers[0]?.next ?? ''));
  /** Where the page after this one begins. */
  nextCursor = $state<string | null>(null);
  #which: { state: TimerState; cursor: string | null } = { state: 'armed', cursor: null };
  #asking = new AbortController();
  #requestedAt = -AGAIN_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly timeline: string,
    clock: () => LiveClock | null,
    private readonly options: Options,
  ) {
    // Another way of the clock, or another instant of an advance.
    $effect(() => {
      const body = clock()?.body;
      if (!body) return;
      void [body.generation, body.advance?.step];
      untrack(() => this.soon(this.isRead && body.advance ? AGAIN_MS : 0));
    });
    // What was told to nobody while the page was hidden.
    $effect(() => {
      const seen = (): void => {
        if (document.visibilityState === 'visible' && this.isRead) this.soon();
      };
      document.addEventListener('visibilitychange', seen);
      return () => document.removeEventListener('visibilitychange', seen);
    });
    const second = $derived(floorDiv(clock()?.now ?? 0n, SECOND) * SECOND);
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

  /** Reads them after a while: at once where nothing was read of late. */
  soon(rest = AGAIN_MS): void {
    if (rest > 0 && this.#timer !== undefined) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.read(), Math.max(0, rest - (performance.now() - this.#requestedAt)));
  }

  /** Reads another page. */
  show(state: TimerState, cursor: string | null): void {
    this.#which = { state, cursor };
    void this.read();
  }

  async read(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#asking.abort();
    this.#asking = new AbortController();
    this.#requestedAt = performance.now();
    const { signal } = this.#asking;
    this.isBusy = true;
    try {
      const page = await readTimers(this.timeline, { ...this.#which, limit: this.options.limit, signal });
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

  close(): void {
    clearTimeout(this.#timer);
    this.#asking.abort();
  }
}
