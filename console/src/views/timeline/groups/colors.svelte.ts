/** By what events are told apart: the largest groups of what is in sight, which get a color each. */
import { isAborted } from '../../../lib/service/api';
import type { Counts } from '../../../lib/events/counts';
import type { GroupBy, Question } from '../../../lib/events/filter';
import type { EventStore } from '../../../lib/events/store';
import type { Micros } from '../../../lib/time/instant';
import { laterOrThrow } from '../../../lib/loading/later';
import type { Counted } from '../counts/counted.svelte';
import { LARGEST, type Chosen, type Legend, type Span } from './groups';

const legends = laterOrThrow(() => import('./legend'));

/** A legend is counted anew where one end of what is in sight moved by more than such a part of it. */
const LEGEND_MOVES = 20n;

/** What is in sight: the events where each was read, and otherwise their counts. */
interface Seen {
  span: Span;
  shown: EventStore;
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
  }

  /** Reads the legend of what is in sight, and what its bars are made of. */
  async read(question: Question, { span, shown, isFar, counts }: Seen, signal: AbortSignal): Promise<void> {
    const { by } = this;
    if (by === null) return;
    try {
      this.error = null;
      const { legendOf, readLegend, readMissing } = await legends();
      if (signal.aborted) return;
      if (!isFar() || span.from > span.to)
        this.legend = legendOf(shown, question.filter, by, span, this.legend, this.chosen);
      else if (this.#span === null || !isAlike(span, this.#span))
        this.legend = await readLegend(question, by, span, this.legend, this.chosen, signal);
      this.#span = span;
      const [whole, { legend }] = [counts(), this];
      if (isFar() && whole !== null && legend !== null)
        await readMissing(this.counted, question, legend, whole, signal);
    } catch (error) {
      if (!isAborted(error)) this.error = error;
    }
  }
}

const isAlike = (a: Span, b: Span): boolean => {
  const moved = (one: Micros, other: Micros): Micros => (one > other ? one - other : other - one) * LEGEND_MOVES;
  return moved(a.from, b.from) <= b.to - b.from && moved(a.to, b.to) <= b.to - b.from;
};
