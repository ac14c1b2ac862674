/** Sample of the events in view, to list their attributes if not all events are loaded. */
import { isAborted } from '../../../lib/service/api';
import { readPage } from '../../../lib/events/pages';
import type { EventBody } from '../../../lib/events/store';
import type { TimelineModel } from '../model.svelte';

/** Number of events to read from each end of the view. */
const EACH_MAX = 50;

export class Sample {
  #found = $state.raw<readonly EventBody[]>([]);
  /** Key of the query, version and time range of the sample. */
  #of = '';
  #request = new AbortController();

  constructor(private readonly model: TimelineModel) {
    $effect(() => () => this.#request.abort());
  }

  get bodies(): readonly EventBody[] {
    return this.model.isFar ? this.#found : this.model.all.bodies;
  }

  /** Loads the first and last events in view, once per view. Called when a chooser opens. */
  async read(): Promise<void> {
    const { model } = this;
    const { question, version } = model;
    const { from, to } = model.viewport.range;
    const of = JSON.stringify([question, version, from.toString(), to.toString()]);
    if (!model.isFar || of === this.#of) return;
    this.#of = of;
    this.#request.abort();
    this.#request = new AbortController();
    const { signal } = this.#request;
    try {
      const ends = await Promise.all(
        [{}, { order: 'newest' as const }].map((order) =>
          readPage(question, { from, to, limit: EACH_MAX, signal, ...order }),
        ),
      );
      const found = ends.flatMap(({ store }) => store.bodies.map((body) => [body.event_id, body] as const));
      this.#found = [...new Map(found).values()];
    } catch (error) {
      // A name can still be typed, and the next call retries.
      if (!isAborted(error)) this.#of = '';
    }
  }
}
