/**
 * The access log, newest first. Older entries are read on request, and newer ones as they arrive.
 *
 * The service's stream reports changes (clock, events, interventions), but not reads and refusals. Each message
 * triggers a read of all newer entries. Entries without a change appear when the user reloads the log or returns to the
 * page. The log is not polled, because every read of the log adds an entry to it.
 */
import { isAborted, service } from '../../../lib/service/api';
import { cacheNames } from '../../../lib/events/known-names';
import type { EventBody } from '../../../lib/events/store';
import { format } from '../../../lib/time/instant';
import { Stream } from '../../../lib/live/stream.svelte';
import { PAGE_MAX, rowsOf, withNewer, type LogEntry, type LogFilter, type LogPage } from './log';

/** Minimum number of entries to read, and the number added to the list at a time. */
export const VISIBLE_STEP = 100;
/** Changes within this time are read together. */
const TOGETHER_MS = 400;
/** If the page was hidden for longer, it reads newer entries when it becomes visible. */
const AWAY_MS = 30_000;

export class AccessLog {
  entries = $state.raw<LogEntry[]>([]);
  error = $state.raw<unknown>(null);
  /** Number of entries read by the current request; null without one. */
  progress = $state<number | null>(null);
  hasOlder = $state(false);
  isRead = $state(false);
  /** Entries after this position were recorded after the log was opened. */
  openedAt = $state(-1);
  /** Cursor of the entries older than the last one here. */
  #cursor: string | null = null;
  #abort: AbortController | null = null;
  #stream: Stream;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hiddenSince = 0;
  #hasBegun = false;
  /** Whether something changed during the first read. */
  #isDue = false;

  constructor(
    readonly timeline: string,
    readonly filter: LogFilter,
  ) {
    this.#stream = new Stream(
      { timeline, events: ['clock', 'events', 'interventions', 'reset'] },
      ({ isFirst, data }) => {
        // Keeps the name, so that it need not be requested when its entry is listed.
        const { event } = data as { event?: EventBody | null };
        if (event) cacheNames(timeline, [event]);
        // The first message contains the current state, not a change.
        if (!isFirst) this.#changed();
      },
      () => void this.#begin(),
    );
    document.addEventListener('visibilitychange', this.#seen);
  }

  get isLive(): boolean {
    return this.#stream.state === 'open';
  }

  /** The connection problem to show, or null. */
  get trouble(): string | null {
    return this.#stream.trouble;
  }

  async #begin(): Promise<void> {
    if (this.isRead || this.progress !== null) {
      this.#changed();
      return;
    }
    await this.older();
    this.openedAt = this.entries[0]?.position ?? -1;
    this.#hasBegun = true;
    if (this.#isDue) void this.newer();
  }

  #readPage(limit: number, cursor: string | null): Promise<LogPage> {
    const { user, action, from, to } = this.filter;
    const range = `${from === null ? '..' : format(from)}/${to === null ? '..' : format(to)}`;
    return service.accessLogs(
      {
        timeline_id: this.timeline,
        time_range: range,
        order: 'newest',
        limit,
        user_id: user,
        action,
        cursor: cursor ?? undefined,
      },
      { signal: this.#abort?.signal },
    ) as Promise<LogPage>;
  }

  async #while(work: () => Promise<void>): Promise<void> {
    if (this.progress !== null) return;
    this.#abort = new AbortController();
    this.progress = 0;
    try {
      await work();
      this.error = null;
    } catch (error) {
      if (!isAborted(error)) this.error = error;
    } finally {
      this.progress = null;
      this.#abort = null;
    }
  }

  /** Reads older entries. A page of a filtered log may be short and still have a successor. */
  older(pageMax: number = VISIBLE_STEP): Promise<void> {
    return this.#while(async () => {
      const target = this.entries.length + VISIBLE_STEP;
      this.hasOlder = true;
      do {
        const page = await this.#readPage(pageMax, this.#cursor);
        this.entries = [...this.entries, ...rowsOf(page)];
        this.progress = (this.progress ?? 0) + page.logs.length;
        this.#cursor = page.has_more ? (page.next_cursor ?? null) : null;
      } while (this.#cursor !== null && this.entries.length < target);
      this.hasOlder = this.#cursor !== null;
      this.isRead = true;
    });
  }

  /** Reads entries newer than the first one here. */
  newer(): Promise<void> {
    return this.#while(async () => {
      if (this.filter.to !== null) return;
      const top = this.entries[0]?.position ?? -1;
      const found: LogEntry[] = [];
      let cursor: string | null = null;
      this.#isDue = false;
      do {
        const page: LogPage = await this.#readPage(top < 0 ? VISIBLE_STEP : PAGE_MAX, cursor);
        const rows = rowsOf(page);
        found.push(...rows);
        this.progress = found.length;
        const isJoined = top < 0 || (rows.at(-1)?.position ?? Infinity) <= top;
        cursor = !isJoined && page.has_more ? (page.next_cursor ?? null) : null;
      } while (cursor !== null);
      this.entries = withNewer(this.entries, found);
      this.isRead = true;
    });
  }

  #changed(): void {
    this.#isDue = true;
    if (!this.#hasBegun) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.progress === null ? void this.newer() : this.#changed()), TOGETHER_MS);
  }

  #seen = (): void => {
    if (document.hidden) this.#hiddenSince = performance.now();
    else if (this.#hiddenSince > 0 && performance.now() - this.#hiddenSince > AWAY_MS) void this.newer();
  };

  /** Cancels the current request. */
  stop(): void {
    this.#abort?.abort();
  }

  close(): void {
    this.stop();
    clearTimeout(this.#timer);
    document.removeEventListener('visibilitychange', this.#seen);
    this.#stream.close();
  }
}
