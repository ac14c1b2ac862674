/** Recounts ranges that changed while the timeline is displayed. */
import { isAborted } from '../../../lib/service/api';
import { readCounts, type Counts } from '../../../lib/events/counts';
import { readExtent, readSpan } from '../../../lib/events/pages';
import type { Question } from '../../../lib/events/filter';
import type { EventStore } from '../../../lib/events/store';
import { stepBegin, stepEnd } from '../../../lib/events/steps';
import type { Micros } from '../../../lib/time/instant';
import type { EventCounts } from './event-counts.svelte';
import type { Range } from '../viewport.svelte';

/** The loaded data of a timeline that a recount updates. */
interface LoadedCounts {
  readonly question: Question;
  readonly counted: EventCounts;
  readonly colors: { forget: () => void };
  readonly measured: RangeCache | null;
  readonly exactCounts: RangeCache | null;
  readonly singlesMax: number;
  readonly isWhole: boolean;
  all: EventStore;
  window: Range | null;
  extent: Range | null;
  version: number;
  load: () => Promise<void>;
  settle: () => void;
}

/** A cache that drops a time range; everything for null. */
interface RangeCache {
  forget: (span: Range | null) => void;
}

/** Reloads counts and visible events of a changed range; everything if the range is unknown. */
export async function readAgain(known: LoadedCounts, span: Range | null, signal: AbortSignal): Promise<void> {
  const { question, counted } = known;
  const extent = await readExtent(question, signal);
  const { overall } = counted;
  if (extent !== null && overall !== null && (extent.first < overall.from || extent.last >= overall.to)) {
    await known.load();
    return;
  }
  if (extent !== null) known.extent = { from: extent.first, to: extent.last };
  await recount(counted, question, span, signal);
  known.measured?.forget(span);
  known.exactCounts?.forget(span);
  const { window } = known;
  if (window !== null) {
    const read = await readSpan(question, { ...window, limit: known.singlesMax, signal });
    if (read !== null) known.all = read;
    else if (known.isWhole) {
      // There are now too many events to show individually.
      await known.load();
      return;
    } else known.window = null;
  }
  known.colors.forget();
  known.version += 1;
  known.settle();
}

/**
 * Recounts a changed range; everything if it is unknown. If another load replaces the counts meanwhile, its result is
 * kept and recounted, since it may have started before the change.
 */
export async function recount(
  counted: EventCounts,
  question: Question,
  times: { from: Micros; to: Micros } | null,
  signal: AbortSignal,
): Promise<void> {
  const again = async (which: 'overall' | 'near'): Promise<void> => {
    const { counting } = counted;
    await counting;
    const before = counted[which];
    if (before === null) return;
    const { step } = before;
    const from = times === null || times.from < before.from ? before.from : stepBegin(step, times.from);
    const to = times === null || times.to >= before.to ? before.to : stepEnd(step, stepBegin(step, times.to));
    if (from >= to) return;
    const part = await readCounts(question, step, { from, to }, signal, () => {});
    if (counted[which] !== before || counted.counting !== counting) return again(which);
    counted[which] = withPart(before, part);
  };
  try {
    await again('overall');
    await again('near');
  } catch (error) {
    if (!isAborted(error)) throw error;
  }
}

/** Replaces a part of counts with newer counts of the same step. */
export function withPart(before: Counts, part: Counts): Counts {
  const buckets = [
    ...before.buckets.filter((bucket) => bucket.to <= part.from),
    ...part.buckets,
    ...before.buckets.filter((bucket) => bucket.from >= part.to),
  ];
  return { ...before, buckets, count: buckets.reduce((sum, bucket) => sum + bucket.count, 0) };
}
