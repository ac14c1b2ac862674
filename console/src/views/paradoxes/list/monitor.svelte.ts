/** The paradoxes of a timeline: reads pages, and applies changes of history to them. */
import { untrack } from 'svelte';
import { isAborted, service } from '../../../lib/service/api';
import { Stream, type Message } from '../../../lib/live/stream.svelte';
import { append, follow, type Choice, type ParadoxUpdate } from './following';
import type { Paradox, ParadoxesBody } from '../paradox';

const PAGE_ITEMS = 50;
/** If the last read was faster than this, a change of history triggers a new read. */
const QUICK_MS = 1_500;
/** Changes within this time are handled together. */
const CALM_MS = 900;
/** How long a read waits for the stream to open, so that no change is missed in between. */
const STREAM_MAX_MS = 400;

/** Query of the list. */
export interface Question extends Choice {
  speed: string;
  tolerance: string;
  /** The time range in API syntax. Evaluated for each read, because it may depend on the clock. */
  range: () => string;
}

/** All of time. */
export const ALWAYS = '../..';

export class Monitor {
  body = $state.raw<ParadoxesBody | null>(null);
  list = $state.raw<Paradox[]>([]);
  error = $state<unknown>(null);
  isBusy = $state(false);
  /** Changes of history that the list does not include. */
  changes = $state(0);
  #request: AbortController | null = null;
  #question: Question = { kinds: [], observations: false, speed: '', tolerance: '', range: () => ALWAYS };
  /** The time range of the current list. */
  #range = ALWAYS;
  #tookMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stream = $state.raw<Stream | null>(null);
  #subscription = '';
  /** Whether the stream reports paradoxes. Otherwise it reports changes that may cause some. */
  #isExact = true;
  #wasOpen = false;
  /** Called when the stream opens. */
  #whenOpen: () => void = () => {};
  /** Whether the stream was open when the list was read. If so, the stream reports everything that the list lacks. */
  #isCovered = true;
  /** Whether a change may be missing from both the list and the stream. */
  #isStale = false;
  /** Updates that arrived during a read. */
  #pendingUpdates: ParadoxUpdate[] = [];

  constructor(private readonly timeline: string) {
    $effect(() => {
      const state = this.#stream?.state;
      untrack(() => {
        if (state === 'open') this.#opened();
        if (state === 'rejected' && this.#isExact) this.#listen(false);
      });
    });
    $effect(() => () => {
      this.#request?.abort();
      clearTimeout(this.#timer);
      this.#stream?.close();
    });
  }

  /** Reads the list again. The current list stays until the response arrives. */
  async read(question: Question = this.#question): Promise<void> {
    this.#question = question;
    const { speed, tolerance } = question;
    const subscription = JSON.stringify([speed, tolerance]);
    if (subscription !== this.#subscription) {
      this.#subscription = subscription;
      this.#listen(true);
    }
    this.#request?.abort();
    const request = new AbortController();
    this.#request = request;
    this.#range = question.range();
    this.isBusy = true;
    this.#pendingUpdates = [];
    await this.#opening();
    if (request.signal.aborted) return;
    this.#isStale = false;
    this.#isCovered = this.#wasOpen;
    const began = performance.now();
    try {
      const body = await this.#readPage('', request.signal);
      this.body = body;
      this.list = body.paradoxes;
      this.error = null;
      this.changes = 0;
      for (const update of this.#pendingUpdates) this.#take(update);
    } catch (error) {
      if (isAborted(error)) return;
      this.error = error;
    }
    this.#tookMs = performance.now() - began;
    this.isBusy = false;
    // The service has cached the result for the stream, so this read is fast.
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- may have been set during the await
    if (this.#isStale && this.error === null) await this.read();
  }

  /** Waits up to STREAM_MAX_MS for the stream to open. */
  #opening(): Promise<void> {
    if (this.#wasOpen) return Promise.resolve();
    return new Promise((done) => {
      this.#whenOpen = done;
      setTimeout(done, STREAM_MAX_MS);
    });
  }

  /** Reads the next page. */
  async more(): Promise<void> {
    const cursor = this.body?.next_cursor;
    if (!cursor || this.isBusy) return;
    this.isBusy = true;
    const request = new AbortController();
    this.#request = request;
    try {
      const page = await this.#readPage(cursor, request.signal);
      this.list = append(this.list, page.paradoxes);
      if (this.body) this.body = { ...this.body, next_cursor: page.next_cursor ?? null, has_more: page.has_more };
      this.error = null;
    } catch (error) {
      if (isAborted(error)) return;
      this.error = error;
    }
    this.isBusy = false;
  }

  #readPage(cursor: string, signal: AbortSignal): Promise<ParadoxesBody> {
    const { kinds, observations, speed, tolerance } = this.#question;
    return service.monitorParadox(
      {
        timeline_id: this.timeline,
        time_range: this.#range,
        limit: PAGE_ITEMS,
        cursor,
        kinds: kinds.join(','),
        include: observations ? 'observations' : '',
        ...(speed === '' ? {} : { speed_kmh: Number(speed) }),
        tolerance,
      },
      { signal },
    ) as Promise<ParadoxesBody>;
  }

  /** Subscribes to paradoxes or, if the service rejects that because the history is too large, to changes. */
  #listen(isExact: boolean): void {
    this.#stream?.close();
    this.#isExact = isExact;
    this.#wasOpen = false;
    this.#isCovered = true;
    const { speed, tolerance } = this.#question;
    const query = isExact
      ? {
          events: ['paradox-created', 'paradox-resolved', 'reset'],
          paradoxes: { include: 'observations', speed_kmh: speed, tolerance },
        }
      : { events: ['events', 'interventions', 'reset'] };
    this.#stream = new Stream({ timeline: this.timeline, ...query }, (message) => this.#receive(message));
  }

  #opened(): void {
    const isAgain = this.#wasOpen;
    this.#wasOpen = true;
    this.#whenOpen();
    if (!isAgain && this.#isCovered) return;
    // Changes before the stream opened, or while it was interrupted, were not reported: read again.
    this.#isCovered = true;
    if (this.isBusy) this.#isStale = true;
    else this.#changed();
  }

  #receive(message: Message): void {
    const isUpdate = message.event === 'paradox-created' || message.event === 'paradox-resolved';
    // Only the service knows whether a paradox is in a time range.
    if (!isUpdate || this.#range !== ALWAYS) {
      this.#changed();
      return;
    }
    const update = message.data as ParadoxUpdate;
    if (this.isBusy) this.#pendingUpdates.push(update);
    this.#take(update);
  }

  #take(update: ParadoxUpdate): void {
    if (this.body === null) return;
    const { body, list } = follow(this.body, this.list, update, this.#question);
    this.body = body;
    this.list = list;
  }

  #changed(): void {
    this.changes += 1;
    clearTimeout(this.#timer);
    const isQuick = this.#tookMs <= QUICK_MS && this.list.length <= PAGE_ITEMS;
    if (isQuick && this.body !== null) this.#timer = setTimeout(() => void this.read(), CALM_MS);
  }

  cancel(): void {
    this.#request?.abort();
    this.isBusy = false;
  }
}
