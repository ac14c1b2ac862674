/** By what events are told apart: the largest groups of what is in sight, which get a color each. */
import { isAborted } from '../../../lib/service/api';
import type { Counts } from '../../../lib/events/counts';
import type { GroupBy, Question } from '../../../lib/events/filter';
import type { EventStore } from '../../../lib/events/store';
import type { Micros } from '../../../lib/time/instant';
import { laterOrThrow } from '../../../lib/loading/later';
import type { Counted } from '../counts/counted.svelte';
import { LARGEST, type Chosen, type Legend, type Span } from './groups';
import type { ValueCounts } from './series';

const legends = laterOrThrow(() => import('./legend'));
const serieses = laterOrThrow(() => import('./series'));

/** A legend is counted anew where one end of what is in sight moved by more than such a part of it. */
const LEGEND_MOVES = 20n;

/** What is in sight: the events where each was read, and otherwise their counts. */
interface Seen {
  span: Span;
  /** Whether that is all of time that has events. */
  isAllTime: boolean;
  visible: EventStore;
  isFar: () => boolean;
  counts: () => Counts | null;
}

export class Colors {
  by = $state<GroupBy | null>(null);
  /** The largest groups of what was in sight when it last stayed; null while they are not counted, or not wanted. */
  legend = $state.raw<Legend | null>(null);
  chosen: Chosen = LARGEST;
  error = $state.raw<unknown>(null);
  /** Of which time the legend is; null where it has to be counted anew. */
  #span: Span | null = null;
  /** The values of all of time that were counted last; none if a response cannot have all. */
  #all: { of: string; whole: Counts; values: ValueCounts | null } | null = null;

  constructor(private readonly counted: Counted) {}

  /** Tells events apart by something else, or gives other groups colors; returns false where all of it is the same. */
  choose(by: GroupBy | null, chosen: Chosen): boolean {
    const isOther = by !== this.by;
    if (!isOther && JSON.stringify(chosen) === JSON.stringify(this.chosen)) return false;
    this.by = by;
    this.chosen = chosen;
    if (isOther) this.legend = null;
    this.#span = null;
    return true;
  }

  /** Has the legend counted anew when it is next read. */
  forget(): void {
    this.#span = null;
    this.#all = null;
  }

  /** Reads the legend of what is in sight, and what its bars are made of. */
  async read(question: Question, seen: Seen, signal: AbortSignal): Promise<void> {
    const { span, visible, isFar, counts } = seen;
    const { by } = this;
    if (by === null) return;
    try {
      this.error = null;
      const [{ legendOf, readLegend }, { readMissing }] = await Promise.all([legends(), serieses()]);
      if (signal.aborted) return;
      if (!isFar() || span.from > span.to)
        this.legend = legendOf(visible, question.filter, by, span, this.legend, this.chosen);
      else if (this.#span === null || !isAlike(span, this.#span))
        this.legend =
          (await this.#readAll(question, by, seen, signal)) ??
          (await readLegend(question, by, span, this.legend, this.chosen, signal));
      this.#span = span;
      const [whole, { legend }] = [counts(), this];
      if (isFar() && whole !== null && legend !== null)
        await readMissing(this.counted, question, legend, whole, signal);
    } catch (error) {
      if (!isAborted(error)) this.error = error;
    }
  }

  /** Reads the legend of all of time with the parts of its bars, in one request; null if these are too many. */
  async #readAll(question: Question, by: GroupBy, seen: Seen, signal: AbortSignal): Promise<Legend | null> {
    const whole = seen.counts();
    if (!seen.isAllTime || whole === null || whole.until < whole.to) return null;
    const [{ legendOfAll }, { readAllValues, keepAll }] = await Promise.all([legends(), serieses()]);
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
  const moved = (one: Micros, other: Micros): Micros => (one > other ? one - other : other - one) * LEGEND_MOVES;
  return moved(a.from, b.from) <= b.to - b.from && moved(a.to, b.to) <= b.to - b.from;
};
