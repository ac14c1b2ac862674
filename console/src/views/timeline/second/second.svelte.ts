/** Counts the events of a second filter over the visible time. */
import { isAborted } from '../../../lib/service/api';
import { countWithin, readExact, type Counts } from '../../../lib/events/counts';
import { filterQuery, type Filter, type Question } from '../../../lib/events/filter';
import type { Micros } from '../../../lib/time/instant';
import { FIRST, LAST, paddedScale } from '../../../lib/chart/scale';
import { readExtent } from '../../../lib/events/pages';
import { stepOf } from '../../../lib/events/steps';
import { Stream } from '../../../lib/live/stream.svelte';
import { BAR_PIXELS, EventCounts } from '../counts/event-counts.svelte';
import { recount } from '../counts/recount';
import type { TimelineModel } from '../model.svelte';
import { Renewal } from '../counts/renewal';
import type { Range } from '../viewport.svelte';

/** Delay before a stable view is counted: each request is a ledger entry. */
const DEBOUNCE_MS = 400;

export class Second {
  readonly #counted = new EventCounts();
  isReading = $state(false);
  error = $state.raw<unknown>(null);
  /** Exact count of the view, if the buckets only give an estimate. */
  #exact = $state.raw<{ from: Micros; to: Micros; count: number } | null>(null);
  /** Key of the current query. */
  #of = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  #overall: Promise<void> = Promise.resolve();
  #loading = new AbortController();
  #settling = new AbortController();
  #stream: Stream | null = null;
  readonly #renewal = new Renewal(() => this.#renew());

  constructor(readonly model: TimelineModel) {}

  counts = $derived.by<Counts | null>(() => {
    const { from, to } = this.model.viewport.range;
    return this.#counted.best(this.model.view.pixel, from, to);
  });

  /** Number of events of the second filter in view; null if unknown. */
  inView = $derived.by<{ count: number; isExact: boolean } | null>(() => {
    const { from, to } = this.model.viewport.range;
    if (this.#exact?.from === from && this.#exact.to === to) return { count: this.#exact.count, isExact: true };
    return this.counts === null || this.counts.until < this.counts.to ? null : countWithin(this.counts, from, to);
  });

  /** Returns the query of a filter. */
  questionOf(filter: Filter): Question {
    const { timeline, box, asOf } = this.model;
    return { timeline, filter, box: filter.place ? null : box, asOf };
  }

  /** Counts the view once it is stable. For a new filter, counts the whole extent first. */
  show(filter: Filter): void {
    const { extent } = this.model;
    clearTimeout(this.#timer);
    this.#settling.abort();
    if (extent === null) return;
    const question = this.questionOf(filter);
    const of = JSON.stringify(question);
    const isNew = of !== this.#of;
    if (isNew) {
      this.#of = of;
      this.#begin(question, extent);
      this.#listen(question);
    }
    this.#timer = setTimeout(() => void this.#settle(question), isNew ? 0 : DEBOUNCE_MS);
  }

  /** Retries after an error. */
  again(filter: Filter): void {
    this.#of = '';
    this.show(filter);
  }

  #begin(question: Question, { from, to }: Range): void {
    this.#exact = null;
    this.#loading.abort();
    this.#loading = new AbortController();
    this.#counted.clear();
    const { pixel } = paddedScale(from, to, this.model.view.width);
    this.#overall = this.#counted.readOverall(question, { first: from, last: to }, pixel, this.#loading.signal);
    // Errors are handled where the promise is awaited.
    this.#overall.catch(() => {});
  }

  /** Subscribes to changes. The stream of the axis has the first filter and may omit matching events. */
  #listen(question: Question): void {
    this.#stream?.close();
    this.#stream = null;
    // A past state does not change.
    if (question.asOf !== null) return;
    const { timeline, filter } = question;
    const changed = (): void => this.#renewal.add(null);
    const events = ['events', 'interventions', 'reset'];
    this.#stream = new Stream({ timeline, events, filter: filterQuery(filter) }, changed, changed);
  }

  /** Recounts after a change; the drawn counts stay until then. */
  async #renew(): Promise<void> {
    const { signal } = this.#loading;
    const { overall } = this.#counted;
    if (this.#of === '' || overall === null || overall.until < overall.to) return;
    const question = JSON.parse(this.#of) as Question;
    try {
      const extent = await readExtent(question, signal);
      const isWithin = extent !== null && extent.first >= overall.from && extent.last < overall.to;
      if (isWithin) await recount(this.#counted, question, null, signal);
      else if (extent !== null) this.#begin(question, { from: extent.first, to: extent.last });
      this.#exact = null;
      await this.#settle(question);
    } catch (error) {
      if (!isAborted(error)) this.error = error;
    }
  }

  async #settle(question: Question): Promise<void> {
    this.#settling.abort();
    this.#settling = new AbortController();
    const { signal } = this.#settling;
    const { view, viewport } = this.model;
    const { from, to } = viewport.range;
    const range = { from: from < FIRST ? FIRST : from, to: to > LAST ? LAST : to };
    this.isReading = true;
    this.error = null;
    try {
      await this.#overall;
      if (signal.aborted) return;
      await this.#counted.cover(question, stepOf(view.pixel * BAR_PIXELS), range.from, range.to, signal);
      if (this.inView?.isExact === false) this.#exact = { from, to, count: await readExact(question, range, signal) };
    } catch (error) {
      if (!isAborted(error)) this.error = error;
    } finally {
      if (!signal.aborted) this.isReading = false;
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#loading.abort();
    this.#settling.abort();
    this.#renewal.close();
    this.#stream?.close();
  }
}
