/** Upcoming events, read again after events were passed, moved or recorded; and timers. */
import { untrack } from 'svelte';
import { isAborted } from '../../../lib/service/api';
import type { LiveClock } from '../../../lib/live/clock.svelte';
import { ALL } from '../../../lib/events/filter';
import { readPage } from '../../../lib/events/pages';
import { EventStore } from '../../../lib/events/store';
import { parse, type Micros, wholeSecond } from '../../../lib/time/instant';
import { Stream } from '../../../lib/live/stream.svelte';
import { timerTarget, type Timer } from '../../../lib/timers/timers';

/** Number of events per request, more than are shown. */
const READ = 24;
const VISIBLE = 6;
/** Minimum time between requests, for a fast clock or frequent recordings. */
const AGAIN_MS = 5_000;

interface Entry {
  id: string;
  title: string;
  time: Micros;
  precision: string;
  /** The queue of a timer's firing; null for an event. */
  queue: string | null;
}

/** Returns the timers that fire after a moment. */
export function timerEntries(timers: readonly Timer[], after: Micros): Entry[] {
  return timers.flatMap(({ timer_id, next, deliver }) => {
    const time = parse(next ?? '');
    if (time === null || time <= after) return [];
    return [{ id: timer_id, title: timer_id, time, precision: '', queue: timerTarget(deliver) }];
  });
}

/**
 * Merges events and timers in order. Entries after the last known timer are left out, because unread timers may come
 * before them.
 */
export function together(events: readonly Entry[], timers: readonly Entry[], hasMoreTimers: boolean): Entry[] {
  const known = hasMoreTimers ? timers.at(-1)?.time : undefined;
  return [...events, ...timers]
    .filter(({ time }) => known === undefined || time <= known)
    .sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))
    .slice(0, VISIBLE);
}

export class Agenda {
  /** Upcoming events, earliest first. */
  entries = $derived.by<Entry[]>(() => {
    const first = this.#events.lowerBound(this.#second + 1n);
    const rows = Array.from({ length: Math.min(VISIBLE, this.#events.count - first) }, (_, index) => first + index);
    return rows.map((row) => ({
      id: this.#events.ids[row] ?? '',
      title: this.#events.titles[row] ?? '',
      time: this.#events.time(row),
      precision: this.#events.precision(row),
      queue: null,
    }));
  });
  isRead = $state(false);
  error = $state.raw<unknown>(null);

  #events = $state.raw(new EventStore());
  /** Whether there are more events than were read. */
  #hasMore = $state(false);
  readonly #second: Micros;
  #stream: Stream;
  #abortController = new AbortController();
  #requestedAt = -AGAIN_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly timeline: string,
    private readonly clock: () => LiveClock | null,
  ) {
    this.#second = $derived(wholeSecond(this.clock()?.now ?? 0n));
    this.#stream = new Stream(
      { timeline, events: ['events', 'interventions', 'reset'] },
      () => this.#soon(),
      () => this.#soon(),
    );
    // Read again after a jump of the clock, and once most of the events have passed.
    $effect(() => {
      void this.clock()?.body?.generation;
      untrack(() => this.#soon(0));
    });
    $effect(() => {
      if (this.isRead && this.#hasMore && this.entries.length < VISIBLE) untrack(() => this.#soon());
    });
    $effect(() => () => {
      clearTimeout(this.#timer);
      this.#abortController.abort();
      this.#stream.close();
    });
  }

  /** Schedules a read: immediately if the last one was long enough ago. */
  #soon(rest = AGAIN_MS): void {
    if (rest > 0 && this.#timer !== undefined) return;
    clearTimeout(this.#timer);
    const wait = Math.max(0, rest - (performance.now() - this.#requestedAt));
    this.#timer = setTimeout(() => void this.read(), wait);
  }

  async read(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const clock = this.clock();
    if (!clock?.body) return;
    this.#abortController.abort();
    this.#abortController = new AbortController();
    this.#requestedAt = performance.now();
    try {
      const question = { timeline: this.timeline, filter: ALL, box: null };
      const from = wholeSecond(clock.now) + 1n;
      const page = await readPage(question, { from, limit: READ, signal: this.#abortController.signal });
      this.#events = page.store;
      this.#hasMore = page.next !== null;
      this.isRead = true;
      this.error = null;
    } catch (error) {
      if (!isAborted(error)) this.error = error;
    }
  }
}
