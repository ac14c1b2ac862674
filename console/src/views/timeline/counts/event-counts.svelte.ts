/** Counts drawn on the axis: overall, near the view, and per group. */
import type { Micros } from '../../../lib/time/instant';
import { GROUPS_MAX, readCounts, type Counts } from '../../../lib/events/counts';
import type { GroupBy, Question } from '../../../lib/events/filter';
import { membersOf, type Group, type Legend } from '../groups/groups';
import { stepBegin, stepEnd, stepOf, type Step } from '../../../lib/events/steps';

/** Minimum width of a bar in pixels. */
export const BAR_PIXELS = 6;

export interface Series {
  /** The counts that these are parts of. */
  whole: Counts;
  by: GroupBy;
  byValue: ReadonlyMap<string, Counts>;
  /** Sums of groups by their values. */
  byKey: ReadonlyMap<string, Counts>;
}

export const keyOf = (group: Group): string => membersOf(group).join('\n');

export class EventCounts {
  /** Counts over the whole extent. */
  overall = $state.raw<Counts | null>(null);
  /** Counts around the view, in finer steps. */
  near = $state.raw<Counts | null>(null);
  series = $state.raw<Series | null>(null);
  /** Resolves when the overall count has finished or was aborted. */
  counting: Promise<void> = Promise.resolve();

  /** Counts the whole extent, for an axis with a resolution of `pixel` microseconds per pixel. */
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

  /** Ensures that a time range is counted in a suitable step. */
  async cover(question: Question, step: Step, from: Micros, to: Micros, signal: AbortSignal): Promise<void> {
    const { near, overall } = this;
    if (near?.step === step && near.from <= from && near.to > to) return;
    // The overall counts have this step: they cover the extent, or will once counting is done.
    if (overall?.step === step) return;
    // Skip ranges outside the extent.
    if (overall !== null && overall.until >= overall.to && (overall.to <= from || overall.from > to)) return;
    const inView = Number(to - from) / step.micros;
    const padding = BigInt(Math.round(Math.min(inView, (GROUPS_MAX - 4 - inView) / 2) * step.micros));
    const [low, high] = [from - (padding > 0n ? padding : 0n), to + (padding > 0n ? padding : 0n)];
    const range = { from: stepBegin(step, low), to: stepEnd(step, stepBegin(step, high)) };
    this.near = await readCounts(question, step, range, signal, () => {});
  }

  /**
   * Returns the counts to draw: the near counts if they cover the view and are finer, unless their bars would be too
   * narrow.
   */
  best(pixel: number, from: Micros, to: Micros): Counts | null {
    const { near, overall } = this;
    if (near === null || overall === null) return near ?? overall;
    const isWide =
      (near.from <= from || near.from <= overall.from) && (near.to > to || near.to >= overall.to) && near.to > from;
    const wide = near.step.micros / pixel;
    return isWide && wide >= BAR_PIXELS / 3 && near.step.micros < overall.step.micros ? near : overall;
  }

  /** Returns the counts of the legend groups; null for groups that are not counted yet. */
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
