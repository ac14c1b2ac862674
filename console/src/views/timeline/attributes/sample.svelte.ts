/** Some of the events in view, to see which attributes there are where not every event is read. */
import { isAborted } from '../../../lib/service/api';
import { readPage } from '../../../lib/events/pages';
import type { EventBody } from '../../../lib/events/store';
import type { TimelineModel } from '../model.svelte';

/** So many are read of either end of what is in view. */
const EACH_MAX = 50;

export class Sample {
  #found = $state.raw<readonly EventBody[]>([]);
  /** Of which events and which time they are. */
  #of = '';
  #asking = new AbortController();

  constructor(private readonly model: TimelineModel) {}

  get bodies(): readonly EventBody[] {
    return this.model.isFar ? this.#found : this.model.all.bodies;
  }

  /** Reads the first and the last events in view, once for each view: when somebody is about to choose. */
  async read(): Promise<void> {
    const { model } = this;
    const { question, version } = model;
    const { from, to } = model.sight.range;
    const of = JSON.stringify([question, version, from.toString(), to.toString()]);
    if (!model.isFar || of === this.#of) return;
    this.#of = of;
    this.#asking.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    try {
      const ends = await Promise.all(
        [{}, { order: 'newest' as const }].map((order) =>
          readPage(question, { from, to, limit: EACH_MAX, signal, ...order }),
        ),
      );
      const found = ends.flatMap(({ store }) => store.bodies.map((body) => [body.event_id, body] as const));
      this.#found = [...new Map(found).values()];
    } catch (error) {
      // A name can be typed all the same; the next one who looks asks again.
      if (!isAborted(error)) this.#of = '';
    }
  }

  close(): void {
    this.#asking.abort();
  }
}
