/**
 * The paradoxes of a timeline as they are looked at: pages, and what becomes of them when history changes meanwhile.
 */
import { untrack } from 'svelte';
import { isAborted, service } from '../../../lib/service/api';
import { Stream, type Message } from '../../../lib/live/stream.svelte';
import { append, follow, type Choice, type ParadoxUpdate } from './following';
import type { Paradox, ParadoxesBody } from '../paradox';

const PAGE_ITEMS = 50;
/** A look that took no longer than this is taken again by itself when history changes. */
const QUICK_MS = 1_500;
/** Changes that come close together are one change. */
const CALM_MS = 900;
/** How long the list waits for the stream, so that nothing is missed between the two. */
const STREAM_MAX_MS = 400;

/** What is looked for. */
export interface Question extends Choice {
  speed: string;
  tolerance: string;
  /** Of which time, as the API writes it: asked for with each look, as it may go by the clock. */
  range: () => string;
}

/** All of time. */
export const ALWAYS = '../..';

export class Monitor {
  body = $state.raw<ParadoxesBody | null>(null);
  list = $state.raw<Paradox[]>([]);
  error = $state<unknown>(null);
  isBusy = $state(false);
  /** Changes of history since the list was read that are not in it. */
  changes = $state(0);
  #request: AbortController | null = null;
  #question: Question = { kinds: [], observations: false, speed: '', tolerance: '', range: () => ALWAYS };
  /** Of which time the list is. */
  #range = ALWAYS;
  #tookMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stream = $state.raw<Stream | null>(null);
  #subscription = '';
  /** Whether the stream tells of paradoxes; otherwise it tells of changes that may make some. */
  #isExact = true;
  #wasOpen = false;
  /** Called when the stream is open. */
  #whenOpen: () => void = () => {};
  /** Whether the stream was open when the list was asked for: what the list has not, the stream tells. */
  #isCovered = true;
  /** Whether something may have happened that neither told. */
  #isStale = false;
  /** What was told while a look was under way. */
  #meanwhile: ParadoxUpdate[] = [];
  #stop: () => void;

  constructor(private readonly timeline: string) {
    this.#stop = $effect.root(() => {
      $effect(() => {
        const state = this.#stream?.state;
        untrack(() => {
          if (state === 'open') this.#opened();
          if (state === 'refused' && this.#isExact) this.#listen(false);
        });
      });
    });
  }

  /** Looks anew. What is shown stays until the answer is there. */
  async look(question: Question = this.#question): Promise<void> {
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
    this.#meanwhile = [];
    await this.#opening();
    if (request.signal.aborted) return;
    this.#isStale = false;
    this.#isCovered = this.#wasOpen;
    const began = performance.now();
    try {
      const body = await this.#ask('', request.signal);
      this.body = body;
      this.list = body.paradoxes;
      this.error = null;
      this.changes = 0;
      for (const update of this.#meanwhile) this.#take(update);
    } catch (error) {
      if (isAborted(error)) return;
      this.error = error;
    }
    this.#tookMs = performance.now() - began;
    this.isBusy = false;
    // What the service made for the stream is there now, so this look is a short one.
    // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- it may have been set while this waited
    if (this.#isStale && this.error === null) await this.look();
  }

  /** Waits until the stream is open, for a while. */
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
      const page = await this.#ask(cursor, request.signal);
      this.list = append(this.list, page.paradoxes);
      if (this.body) this.body = { ...this.body, next_cursor: page.next_cursor ?? null, has_more: page.has_more };
      this.error = null;
    } catch (error) {
      if (isAborted(error)) return;
      this.error = error;
    }
    this.isBusy = false;
  }

  #ask(cursor: string, signal: AbortSignal): Promise<ParadoxesBody> {
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

  /** Listens to paradoxes; or, where the service refuses that because there is too much to look at, to changes. */
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
    this.#stream = new Stream({ timeline: this.timeline, ...query }, (message) => this.#hear(message));
  }

  #opened(): void {
    const isAgain = this.#wasOpen;
    this.#wasOpen = true;
    this.#whenOpen();
    if (!isAgain && this.#isCovered) return;
    // What happened before the stream began, or while it was lost, was told to nobody: a look follows.
    this.#isCovered = true;
    if (this.isBusy) this.#isStale = true;
    else this.#changed();
  }

  #hear(message: Message): void {
    const isUpdate = message.event === 'paradox-created' || message.event === 'paradox-resolved';
    // Whether a paradox is in a part of time, the service knows.
    if (!isUpdate || this.#range !== ALWAYS) {
      this.#changed();
      return;
    }
    const update = message.data as ParadoxUpdate;
    if (this.isBusy) this.#meanwhile.push(update);
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
    if (isQuick && this.body !== null) this.#timer = setTimeout(() => void this.look(), CALM_MS);
  }

  cancel(): void {
    this.#request?.abort();
    this.isBusy = false;
  }

  close(): void {
    this.#stop();
    this.#request?.abort();
    clearTimeout(this.#timer);
    this.#stream?.close();
  }
}
