/**
 * The access log as it is looked at: newest first, older on request, newer as they come.
 *
 * The service's stream tells of changes (clock, events, interventions), not of what was looked at or refused. So each
 * message of it brings everything that is newer, and what came without a change comes when the user asks, or comes back
 * to the page. Nothing is polled: every reading of the log is an entry of the log.
 */
import { call, isAborted } from '../../lib/api';
import { format, parse, type Micros } from '../../lib/instant';
import { Stream, type StreamState } from '../../lib/stream.svelte';
import { Backward, PAGE_MAX, withNewer, type LogEntry, type LogFilter, type LogPage } from './log';

/** So many entries are read at least, and so many more are shown at a time. */
export const SHOWN_STEP = 100;
/** Changes that come within this time are read together. */
const TOGETHER_MS = 400;
/** Where so many entries have the time of the newest one, newer ones are looked for after it. */
const SAME_TIME_MAX = 500;
/** A page that was out of sight for so long reads what is newer when it comes back. */
const AWAY_MS = 30_000;

export class AccessLog {
  entries = $state.raw<LogEntry[]>([]);
  error = $state.raw<unknown>(null);
  /** Entries read by the request that is under way; null while none is. */
  progress = $state<number | null>(null);
  hasOlder = $state(false);
  isRead = $state(false);
  /** Positions above this came after the log was opened. */
  openedAt = $state(-1);
  #backward: Backward | null = null;
  #abort: AbortController | null = null;
  #stream: Stream;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hiddenSince = 0;
  #hasBegun = false;
  /** The stream begins with what is there already, which is no change. */
  #hasStarted = false;
  /** Whether something changed while the log was first read. */
  #isDue = false;

  constructor(
    readonly timeline: string,
    readonly filter: LogFilter,
    /** When the timeline was made, and how many entries it has, as far as that is known: where to begin to look. */
    private readonly known: { createdAt: Micros; size: number },
  ) {
    this.#stream = new Stream('v1/stream', { timeline_id: timeline }, ['clock', 'event', 'events', 'intervention', 'interventions', 'reset'], () => this.#changed());
    document.addEventListener('visibilitychange', this.#seen);
    void this.#begin();
  }

  get connection(): StreamState {
    return this.#stream.state;
  }

  async #begin(): Promise<void> {
    const first = this.filter.from !== null && this.filter.from > this.known.createdAt ? this.filter.from : this.known.createdAt;
    // The host's clock may be ahead of the browser's by some minutes.
    const now = BigInt(Date.now()) * 1_000n + 600_000_000n;
    const last = this.filter.to ?? now;
    const span = last > first ? last - first : 1n;
    const isFiltered = this.filter.user !== '' || this.filter.action !== '';
    const share = isFiltered || this.known.size <= PAGE_MAX ? span : (span * BigInt(PAGE_MAX)) / BigInt(2 * this.known.size);
    this.#backward = new Backward({ ask: (range, cursor) => this.#ask(range, cursor), first, last, width: share });
    await this.older();
    this.openedAt = this.entries[0]?.position ?? -1;
    this.#hasBegun = true;
    if (this.#isDue) void this.newer();
  }

  #ask(range: string, cursor: string | null): Promise<LogPage> {
    const { user, action } = this.filter;
    return call<LogPage>('GET', 'v1/access-logs', {
      query: { timeline_id: this.timeline, time_range: range, limit: PAGE_MAX, user_id: user, action, cursor },
      ...(this.#abort ? { signal: this.#abort.signal } : {}),
    });
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

  /** Reads older entries. */
  older(): Promise<void> {
    return this.#while(async () => {
      const backward = this.#backward;
      if (backward === null) return;
      this.hasOlder = true;
      const found = await backward.older(SHOWN_STEP, (read) => (this.progress = read));
      this.entries = [...this.entries, ...found];
      this.hasOlder = !backward.isDone;
      this.isRead = true;
    });
  }

  /** Reads what is newer than the newest entry here. */
  newer(): Promise<void> {
    return this.#while(async () => {
      if (this.filter.to !== null) return;
      const top = this.entries[0];
      const at = top ? (parse(top.timestamp) ?? 0n) : (this.filter.from ?? this.known.createdAt);
      const same = top ? this.entries.findIndex((entry) => entry.timestamp !== top.timestamp) : 0;
      const isCrowded = same < 0 ? this.entries.length > SAME_TIME_MAX : same > SAME_TIME_MAX;
      const range = `${format(isCrowded ? at + 1n : at)}/..`;
      this.#isDue = false;
      let cursor: string | null = null;
      do {
        const page: LogPage = await this.#ask(range, cursor);
        this.entries = withNewer(this.entries, page.logs);
        this.progress = (this.progress ?? 0) + page.logs.length;
        cursor = page.has_more ? (page.next_cursor ?? null) : null;
      } while (cursor !== null);
      this.isRead = true;
    });
  }

  #changed(): void {
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      return;
    }
    this.#isDue = true;
    if (!this.#hasBegun) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => (this.progress === null ? void this.newer() : this.#changed()), TOGETHER_MS);
  }

  #seen = (): void => {
    if (document.hidden) this.#hiddenSince = performance.now();
    else if (this.#hiddenSince > 0 && performance.now() - this.#hiddenSince > AWAY_MS) void this.newer();
  };

  /** Gives up what is being read. */
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
