/** What the numbers of many events are, in stretches of time: as the service counts them by value. */
import { aggregate, countWithin, GROUPS_MAX, type Counts } from '../../../lib/events/counts';
import type { Question } from '../../../lib/events/filter';
import { stepBegin, stepEnd, stepOf, type Step } from '../../../lib/events/steps';
import { FIRST, LAST, type Scale } from '../../../lib/chart/scale';
import type { Micros } from '../../../lib/time/instant';
import type { Range } from '../sight.svelte';
import { summedUp, type Stretch } from './values';

/** Each stretch is a question, and an entry of the ledger: so many of them fill the axis, and no more. */
const STRETCHES_MAX = 40;
const STRETCH_PIXELS = 26;
/** The service counts a few at a time for everybody, and colors are counted meanwhile. */
const AT_ONCE = 2;

/** Returns the stretches that an axis is measured in. */
export function measureStep({ pixel, width }: Scale): Step {
  return stepOf(pixel * Math.max(STRETCH_PIXELS, width / STRETCHES_MAX));
}

/** What is in sight of a timeline, and what is known of it. */
interface Seen {
  readonly isFar: boolean;
  readonly measure: string | null;
  readonly extent: Range | null;
  readonly question: Question;
  readonly view: Scale;
  readonly counts: Counts | null;
  readonly sight: { readonly range: Range };
}

export class Measured {
  /** By their beginning; null where there is no number. */
  stretches = $state.raw<ReadonlyMap<Micros, Stretch | null>>(new Map());
  step = $state.raw<Step | null>(null);
  isReading = $state(false);
  error = $state.raw<unknown>(null);
  #of = '';

  /** Asks for what is in sight, where it is counted. */
  async readIn(seen: Seen, signal: AbortSignal): Promise<void> {
    const { isFar, measure, extent, question, view, counts, sight } = seen;
    if (!isFar || measure === null || extent === null) return;
    const { from, to } = sight.range;
    const part = { from: from > extent.from ? from : extent.from, to: to < extent.to ? to : extent.to };
    await this.read(question, measure, view, part, counts, signal);
  }

  /** Asks for the stretches of a time that are not known yet, but for those where nothing happens. */
  async read(
    question: Question,
    key: string,
    view: Scale,
    { from, to }: { from: Micros; to: Micros },
    counts: Counts | null,
    signal: AbortSignal,
  ): Promise<void> {
    const step = measureStep(view);
    const of = JSON.stringify([key, step.iso, question.filter, question.box, question.asOf]);
    if (of !== this.#of) this.stretches = new Map();
    this.#of = of;
    this.step = step;
    const missing: { from: Micros; to: Micros }[] = [];
    for (let begin = stepBegin(step, from); begin <= to; begin = stepEnd(step, begin)) {
      const end = stepEnd(step, begin);
      const isEmpty = counts !== null && counts.until >= counts.to && countWithin(counts, begin, end - 1n).most === 0;
      if (!isEmpty && !this.stretches.has(begin)) missing.push({ from: begin, to: end });
    }
    this.error = null;
    this.isReading = missing.length > 0;
    const work = async (): Promise<void> => {
      for (let part = missing.shift(); part !== undefined; part = missing.shift()) {
        const found = await readStretch(question, key, part, signal);
        if (this.#of === of) this.stretches = new Map([...this.stretches, [part.from, found] as const]);
      }
    };
    try {
      await Promise.all(Array.from({ length: AT_ONCE }, work));
    } catch (error) {
      if (!signal.aborted) this.error = error;
    } finally {
      if (!signal.aborted) this.isReading = false;
    }
  }

  /** Forgets what is between two moments; everything where these are not known. */
  forget(span: { from: Micros; to: Micros } | null): void {
    if (this.stretches.size === 0) return;
    const { step } = this;
    const kept = [...this.stretches].filter(
      ([begin]) => span !== null && step !== null && (stepEnd(step, begin) <= span.from || begin > span.to),
    );
    this.stretches = new Map(kept);
  }
}

async function readStretch(
  question: Question,
  key: string,
  { from, to }: { from: Micros; to: Micros },
  signal: AbortSignal,
): Promise<Stretch | null> {
  const sums = new Map<string, number>();
  let [without, isAll] = [0, true];
  const asked = { from: from < FIRST ? FIRST : from, to: to > LAST ? LAST : to - 1n };
  await aggregate(question, { group_by: `attribute.${key}`, limit: GROUPS_MAX }, asked, signal, (body) => {
    for (const group of body.groups) sums.set(group.key, (sums.get(group.key) ?? 0) + group.count);
    without += body.ungrouped_count;
    isAll &&= !body.groups_truncated && body.groups_count <= body.groups.length;
  });
  return summedUp({ from, to }, sums, { without, isAll });
}
