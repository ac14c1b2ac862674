/** The paradoxes of a timeline as they are looked at: pages, and what to do when history changes meanwhile. */
import { call, isAborted } from '../../lib/api';
import type { Query } from '../../lib/base';
import { Stream } from '../../lib/stream.svelte';
import type { Paradox, ParadoxesBody } from './paradox';

const PAGE_ITEMS = 50;
/** A look that took no longer than this is taken again by itself when history changes. */
const QUICK_MS = 1_500;
/** Changes that come close together are one change. */
const CALM_MS = 900;

export class Monitor {
  body = $state.raw<ParadoxesBody | null>(null);
  list = $state.raw<Paradox[]>([]);
  error = $state<unknown>(null);
  isBusy = $state(false);
  /** Changes of history since the list was read. */
  changes = $state(0);
  #request: AbortController | null = null;
  #query: Query = {};
  #tookMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stream: Stream;

  constructor(private readonly timeline: string) {
    this.#stream = new Stream('v1/stream', { timeline_id: timeline, topics: 'events,interventions' }, ['events', 'interventions', 'reset'], () => this.#changed());
  }

  #changed(): void {
    this.changes += 1;
    clearTimeout(this.#timer);
    const isQuick = this.#tookMs <= QUICK_MS && this.list.length <= PAGE_ITEMS;
    if (isQuick && this.body !== null) this.#timer = setTimeout(() => void this.look(this.#query), CALM_MS);
  }

  /** Looks anew. What is shown stays until the answer is there. */
  async look(query: Query): Promise<void> {
    this.#request?.abort();
    const request = new AbortController();
    this.#request = request;
    this.#query = query;
    this.isBusy = true;
    const began = performance.now();
    try {
      const body = await this.#ask(query, request.signal);
      this.body = body;
      this.list = body.paradoxes;
      this.error = null;
      this.changes = 0;
    } catch (error) {
      if (isAborted(error)) return;
      this.error = error;
    }
    this.#tookMs = performance.now() - began;
    this.isBusy = false;
  }

  /** Reads the next page. */
  async more(): Promise<void> {
    const cursor = this.body?.next_cursor;
    if (!cursor || this.isBusy) return;
    this.isBusy = true;
    const request = new AbortController();
    this.#request = request;
    try {
      const body = await this.#ask({ ...this.#query, cursor }, request.signal);
      this.list = [...this.list, ...body.paradoxes];
      this.body = { ...body, counts: this.body?.counts ?? body.counts };
      this.error = null;
    } catch (error) {
      if (isAborted(error)) return;
      this.error = error;
    }
    this.isBusy = false;
  }

  #ask(query: Query, signal: AbortSignal): Promise<ParadoxesBody> {
    return call<ParadoxesBody>('GET', 'v1/monitor-paradox', { query: { timeline_id: this.timeline, time_range: '../..', limit: PAGE_ITEMS, ...query }, signal });
  }

  cancel(): void {
    this.#request?.abort();
    this.isBusy = false;
  }

  close(): void {
    this.#request?.abort();
    clearTimeout(this.#timer);
    this.#stream.close();
  }
}
