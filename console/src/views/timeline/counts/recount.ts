/** Counts again what changed while somebody looked. */
import { isAborted } from '../../../lib/service/api';
import { readCounts, type Counts } from '../../../lib/events/counts';
import { readExtent, readSpan } from '../../../lib/events/pages';
import type { Question } from '../../../lib/events/filter';
import type { EventStore } from '../../../lib/events/store';
import { stepBegin, stepEnd } from '../../../lib/events/steps';
import type { Micros } from '../../../lib/time/instant';
import type { Counted } from './counted.svelte';
import type { Range } from '../sight.svelte';

/** What was read of a timeline, as far as it is read again. */
interface Known {
  readonly question: Question;
  readonly counted: Counted;
  readonly colors: { forget: () => void };
  readonly measured: Forgetful | null;
  readonly exactly: Forgetful | null;
  readonly singlesMax: number;
  readonly isWhole: boolean;
  all: EventStore;
  window: Range | null;
  extent: Range | null;
  version: number;
  load: () => Promise<void>;
  settle: () => void;
}

/** What forgets what it knows of a time; everything where it gets null. */
interface Forgetful {
  forget: (span: Range | null) => void;
}

/** Reads what changed in a time, or everything if that is unknown: counts, and the events in sight. */
export async function readAgain(known: Known, span: Range | null, signal: AbortSignal): Promise<void> {
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
  known.exactly?.forget(span);
  const { window } = known;
  if (window !== null) {
    const read = await readSpan(question, { ...window, limit: known.singlesMax, signal });
    if (read !== null) known.all = read;
    else if (known.isWhole) {
      // It has become too much to show one by one.
      await known.load();
      return;
    } else known.window = null;
  }
  known.colors.forget();
  known.version += 1;
  known.settle();
}

/**
 * Counts again what changed between two moments, or everything if these are unknown. Counts that another reading has
 * replaced meanwhile are not overwritten: that reading may have begun before the change, so its counts are renewed.
 */
export async function recount(
  counted: Counted,
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

/** Replaces a part of counts with newer ones in the same steps. */
export function withPart(before: Counts, part: Counts): Counts {
  const buckets = [
    ...before.buckets.filter((bucket) => bucket.to <= part.from),
    ...part.buckets,
    ...before.buckets.filter((bucket) => bucket.from >= part.to),
  ];
  return { ...before, buckets, count: buckets.reduce((sum, bucket) => sum + bucket.count, 0) };
}
