/** Distributions of a numeric attribute over time intervals, as aggregated by the service. */
import { aggregate, countWithin, hasAllGroups, PAIRS_MAX, type Counts } from '../../../lib/events/counts';
import type { Question } from '../../../lib/events/filter';
import { stepBegin, stepEnd, stepOf, type Step } from '../../../lib/events/steps';
import { FIRST, LAST, type Scale } from '../../../lib/chart/scale';
import { parse, type Micros } from '../../../lib/time/instant';
import type { Range } from '../viewport.svelte';
import { summarized, type Interval } from './values';

/** Maximum number of intervals across the axis. */
const INTERVALS_MAX = 40;
const INTERVAL_PIXELS = 26;

/** Returns the interval for a scale. */
export function measureStep({ pixel, width }: Scale): Step {
  return stepOf(pixel * Math.max(INTERVAL_PIXELS, width / INTERVALS_MAX));
}

/** The visible range of a timeline and its counts. */
interface Seen {
  readonly isFar: boolean;
  readonly measure: string | null;
  readonly extent: Range | null;
  readonly question: Question;
  readonly view: Scale;
  readonly counts: Counts | null;
  readonly viewport: { readonly range: Range };
}

export class ValueMeasurements {
  /** By start time; null for an interval without numbers. */
  intervals = $state.raw<ReadonlyMap<Micros, Interval | null>>(new Map());
  step = $state.raw<Step | null>(null);
  isReading = $state(false);
  error = $state.raw<unknown>(null);
  #of = '';

  /** Loads the visible intervals if events are only counted. */
  async readIn(seen: Seen, signal: AbortSignal): Promise<void> {
    const { isFar, measure, extent, question, view, counts, viewport } = seen;
    if (!isFar || measure === null || extent === null) return;
    const { from, to } = viewport.range;
    const part = { from: from > extent.from ? from : extent.from, to: to < extent.to ? to : extent.to };
    await this.read(question, measure, view, part, counts, signal);
  }

  /** Loads the intervals of a time range that are not loaded yet, except those without events. */
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
    if (of !== this.#of) this.intervals = new Map();
    this.#of = of;
    this.step = step;
    const missing: Range[] = [];
    for (let begin = stepBegin(step, from); begin <= to; begin = stepEnd(step, begin)) {
      const end = stepEnd(step, begin);
      const isEmpty = counts !== null && counts.until >= counts.to && countWithin(counts, begin, end - 1n).most === 0;
      if (!isEmpty && !this.intervals.has(begin)) missing.push({ from: begin, to: end });
    }
    this.error = null;
    this.isReading = missing.length > 0;
    try {
      if (missing.length > 0)
        await readIntervals(question, key, step, missing, signal, (found) => {
          if (this.#of === of) this.intervals = new Map([...this.intervals, ...found]);
        });
    } catch (error) {
      if (!signal.aborted) this.error = error;
    } finally {
      if (!signal.aborted) this.isReading = false;
    }
  }

  /** Drops the intervals of a time range; all of them if it is unknown. */
  forget(span: { from: Micros; to: Micros } | null): void {
    if (this.intervals.size === 0) return;
    const { step } = this;
    const retained = [...this.intervals].filter(
      ([begin]) => span !== null && step !== null && (stepEnd(step, begin) <= span.from || begin > span.to),
    );
    this.intervals = new Map(retained);
  }
}

/**
 * Loads the values of each interval, grouped by time and value. If a response cannot contain all of them, loads each
 * half.
 */
async function readIntervals(
  question: Question,
  key: string,
  step: Step,
  parts: readonly Range[],
  signal: AbortSignal,
  take: (found: ReadonlyMap<Micros, Interval | null>) => void,
): Promise<void> {
  const [from, to] = [parts[0]!.from, parts.at(-1)!.to];
  const found = new Map<Micros, Map<string, number>>();
  let incompleteCount = 0;
  const range = { from: from < FIRST ? FIRST : from, to: to > LAST ? LAST : to - 1n };
  const query = { group_by: `time,attribute.${key}`, bucket: step.iso, limit: PAIRS_MAX };
  await aggregate(question, query, range, signal, (body) => {
    if (!hasAllGroups(body)) incompleteCount += 1;
    for (const group of body.groups) {
      const [begin, value] = [parse(group.key), group.second_key ?? ''];
      if (begin === null) continue;
      const sums = found.get(begin) ?? new Map<string, number>();
      sums.set(value, (sums.get(value) ?? 0) + group.count);
      found.set(begin, sums);
    }
    // A single interval is shown even if it is incomplete.
    return incompleteCount === 0 || parts.length === 1;
  });
  const isAll = incompleteCount === 0;
  if (!isAll && parts.length > 1) {
    const half = parts.length >> 1;
    for (const some of [parts.slice(0, half), parts.slice(half)])
      await readIntervals(question, key, step, some, signal, take);
    return;
  }
  const interval = (part: Range): Interval | null => summarized(part, found.get(part.from) ?? new Map(), isAll);
  take(new Map(parts.map((part) => [part.from, interval(part)])));
}
