/** The counts that the axis draws: over all of time, around what is in sight, and of each group of that. */
import type { Micros } from '../../../lib/time/instant';
import { GROUPS_MAX, readCounts, type Counts } from '../../../lib/events/counts';
import type { GroupBy, Question } from '../../../lib/events/filter';
import { membersOf, type Group, type Legend } from '../groups/groups';
import { stepBegin, stepEnd, stepOf, type Step } from '../../../lib/events/steps';

/** A bar is at least so wide. */
export const BAR_PIXELS = 6;

export interface Series {
  /** Of which counts they are parts. */
  whole: Counts;
  by: GroupBy;
  byValue: ReadonlyMap<string, Counts>;
  /** The sums of groups, by their values. */
  byKey: ReadonlyMap<string, Counts>;
}

export const keyOf = (group: Group): string => membersOf(group).join('\n');

export class Counted {
  /** All of time. */
  overall = $state.raw<Counts | null>(null);
  /** Around what is in sight, in finer steps. */
  near = $state.raw<Counts | null>(null);
  series = $state.raw<Series | null>(null);
  /** Ends when all of time is counted, or that was given up. */
  counting: Promise<void> = Promise.resolve();

  /** Counts all of time, for an axis that has so much time in a pixel. */
  async readOverall(
    question: Question,
    { first, last }: { first: Micros; last: Micros },
    pixel: number,
    signal: AbortSignal,
  ): Promise<void> {
    const step = stepOf(pixel * BAR_PIXELS);
    const range = { from: stepBegin(step, first), to: stepEnd(step, stepBegin(step, last)) };
    const take = (counts: Counts): void => void (this.overall = counts);
    take({ step, ...range, until: range.from, buckets: [], count: 0 });
    const counting = readCounts(question, step, range, signal, take).then(take);
    this.counting = counting.catch(() => {});
    await counting;
  }

  /** Sees to it that a time is counted in steps that fit. */
  async cover(question: Question, step: Step, from: Micros, to: Micros, signal: AbortSignal): Promise<void> {
    const { near, overall } = this;
    if (near?.step === step && near.from <= from && near.to > to) return;
    // Before and after all of time there is nothing, and what is still being counted comes.
    if (overall?.step === step) return;
    // Where there is nothing, nothing is counted.
    if (overall !== null && overall.until >= overall.to && (overall.to <= from || overall.from > to)) return;
    const inSight = Number(to - from) / step.micros;
    const padding = BigInt(Math.round(Math.min(inSight, (GROUPS_MAX - 4 - inSight) / 2) * step.micros));
    const [low, high] = [from - (padding > 0n ? padding : 0n), to + (padding > 0n ? padding : 0n)];
    const range = { from: stepBegin(step, low), to: stepEnd(step, stepBegin(step, high)) };
    this.near = await readCounts(question, step, range, signal, () => {});
  }

  /** Returns the counts to draw: the finest that has all that is in sight and is not much finer or coarser. */
  best(pixel: number, from: Micros, to: Micros): Counts | null {
    const { near, overall } = this;
    if (near === null || overall === null) return near ?? overall;
    const isWide =
      (near.from <= from || near.from <= overall.from) && (near.to > to || near.to >= overall.to) && near.to > from;
    const wide = near.step.micros / pixel;
    return isWide && wide >= BAR_PIXELS / 3 && near.step.micros < overall.step.micros ? near : overall;
  }

  /** Returns the counts of the groups of a legend, null for each that is not counted yet. */
  seriesOf({ by, groups }: Legend, whole: Counts): readonly (Counts | null)[] {
    const { series } = this;
    if (series?.whole !== whole || series.by !== by) return groups.map(() => null);
    return groups.map((group) => series.byKey.get(keyOf(group)) ?? null);
  }

  clear(): void {
    this.overall = null;
    this.near = null;
    this.series = null;
  }
}
