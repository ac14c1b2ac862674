/** Exact counts of time ranges that bars only estimate. */
import { countWithin, type Counts } from '../../../lib/events/counts';
import type { Range } from '../viewport.svelte';

/** Maximum events to count exactly: one response reads at most this many (`aggregate_events_read_max`). */
const EVENTS_MAX = 100_000;
/** Number of cached counts, for navigating back and forth. */
const CACHED_MAX = 12;

interface CachedCount extends Range {
  count: number;
  isExact: true;
}

export class ExactCounts {
  #known = $state.raw<readonly CachedCount[]>([]);
  /** Incremented when the events change; responses for an older generation are dropped. */
  generation = $state(0);

  of(from: bigint, to: bigint): CachedCount | undefined {
    return this.#known.find((cached) => cached.from === from && cached.to === to);
  }

  know({ from, to }: Range, count: number): void {
    const others = this.#known.filter((cached) => cached.from !== from || cached.to !== to);
    this.#known = [...others, { from, to, count, isExact: true } as const].slice(-CACHED_MAX);
  }

  /** Drops counts that overlap a changed range; all counts if the range is unknown. */
  forget(span: Range | null): void {
    this.#known = this.#known.filter(({ from, to }) => span !== null && (to < span.from || from > span.to));
    this.generation += 1;
  }
}

/** Whether one request can count a range exactly that bars only estimate. */
export function isWorthCounting(counts: Counts, { from, to }: Range): boolean {
  const { isExact, most } = countWithin(counts, from, to);
  return !isExact && most <= EVENTS_MAX;
}
