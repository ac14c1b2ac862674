/** Groups events by an attribute: the largest groups in view get a color. */
import { isAborted } from '../../../lib/service/api';
import type { Counts } from '../../../lib/events/counts';
import type { GroupBy, Question } from '../../../lib/events/filter';
import type { EventStore } from '../../../lib/events/store';
import type { Micros } from '../../../lib/time/instant';
import { loadOrThrow } from '../../../lib/loading/later';
import type { EventCounts } from '../counts/event-counts.svelte';
import { LARGEST, type GroupSelection, type Legend, type Span } from './groups';
import type { ValueCounts } from './series';

const legendModule = loadOrThrow(() => import('./legend'));
const seriesModule = loadOrThrow(() => import('./series'));

/** The legend is recounted when an end of the view has moved by more than 1/LEGEND_MOVES of its length. */
const LEGEND_MOVES = 20n;

/** The visible range with its events, if loaded, or their counts. */
interface VisibleEvents {
  span: Span;
  /** Whether the range contains all events. */
  isAllTime: boolean;
  /** Whether the counts are still being loaded. The load ends with another read. */
  isLoading: boolean;
  visible: EventStore;
  isFar: () => boolean;
  counts: () => Counts | null;
}

export class Colors {
  by = $state<GroupBy | null>(null);
  /** Largest groups of the last stable view; null if not counted or not requested. */
  legend = $state.raw<Legend | null>(null);
  chosen: GroupSelection = LARGEST;
  error = $state.raw<unknown>(null);
  /** Range of the legend; null to force a recount. */
  #span: Span | null = null;
  /** Last counted values of the whole extent; `values` is null if they exceed the response limit. */
  #all: { of: string; whole: Counts; values: ValueCounts | null } | null = null;

  constructor(private readonly counted: EventCounts) {}

  /** Changes the attribute or the colored groups; returns false if nothing has changed. */
  choose(by: GroupBy | null, chosen: GroupSelection): boolean {
    const isOther = by !== this.by;
    if (!isOther && JSON.stringify(chosen) === JSON.stringify(this.chosen)) return false;
    this.by = by;
    this.chosen = chosen;
    if (isOther) this.legend = null;
    this.#span = null;
    return true;
  }

  /** Forces a recount on the next read. */
  forget(): void {
    this.#span = null;
    this.#all = null;
  }

  /** Loads the legend of the visible range and the counts per group for its bars. */
  async read(question: Question, seen: VisibleEvents, signal: AbortSignal): Promise<void> {
    const { span, isAllTime, isLoading, visible, isFar, counts } = seen;
    const { by } = this;
    if (by === null) return;
    try {
      this.error = null;
      const [{ legendOf, readLegend }, { readMissing }] = await Promise.all([legendModule(), seriesModule()]);
      if (signal.aborted) return;
      if (!isFar() || span.from > span.to)
        this.legend = legendOf(visible, question.filter, by, span, this.legend, this.chosen);
      else if (this.#span === null || !isAlike(span, this.#span)) {
        // Once the counts are complete, one request counts the legend and its bars.
        if (isLoading && isAllTime) return;
        this.legend =
          (await this.#readAll(question, by, seen, signal)) ??
          (await readLegend(question, by, span, this.legend, this.chosen, signal));
      }
      this.#span = span;
      const [whole, { legend }] = [counts(), this];
      if (!isFar() || whole === null || legend === null || (isLoading && whole.until < whole.to)) return;
      await readMissing(this.counted, question, legend, whole, signal);
    } catch (error) {
      if (!isAborted(error)) this.error = error;
    }
  }

  /**
   * Loads the legend of the whole extent and the counts of its bars in one request; null if there are too many values.
   */
  async #readAll(question: Question, by: GroupBy, seen: VisibleEvents, signal: AbortSignal): Promise<Legend | null> {
    const whole = seen.counts();
    if (!seen.isAllTime || whole === null || whole.until < whole.to) return null;
    const [{ legendOfAll }, { readAllValues, keepAll }] = await Promise.all([legendModule(), seriesModule()]);
    const of = JSON.stringify([question, by]);
    if (this.#all?.whole !== whole || this.#all.of !== of)
      this.#all = { of, whole, values: await readAllValues(question, by, whole, signal) };
    const { values } = this.#all;
    if (values === null) return null;
    const legend = legendOfAll(question.filter, by, values, this.legend, this.chosen);
    keepAll(this.counted, legend, whole, values);
    return legend;
  }
}

const isAlike = (a: Span, b: Span): boolean => {
  const moved = (a: Micros, b: Micros): Micros => (a > b ? a - b : b - a) * LEGEND_MOVES;
  return moved(a.from, b.from) <= b.to - b.from && moved(a.to, b.to) <= b.to - b.from;
};
