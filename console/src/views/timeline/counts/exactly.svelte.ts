/** What was counted by itself, because bars tell it only about. */
import { countWithin, type Counts } from '../../../lib/events/counts';
import type { Range } from '../sight.svelte';

/** More than one answer counts, where each event has to be read (`aggregate_events_read_max`). */
const EVENTS_MAX = 100_000;
/** Of so many times the counts are kept, for who goes back and forth. */
const CACHED_MAX = 12;

interface Known extends Range {
  count: number;
  isExact: true;
}

export class Exactly {
  #known = $state.raw<readonly Known[]>([]);
  /** Changes with what there is to count: what was asked before is of something else. */
  generation = $state(0);

  of(from: bigint, to: bigint): Known | undefined {
    return this.#known.find((one) => one.from === from && one.to === to);
  }

  know({ from, to }: Range, count: number): void {
    const others = this.#known.filter((one) => one.from !== from || one.to !== to);
    this.#known = [...others, { from, to, count, isExact: true } as const].slice(-CACHED_MAX);
  }

  /** Forgets what a change between two moments may have changed; everything where these are not known. */
  forget(span: Range | null): void {
    this.#known = this.#known.filter(({ from, to }) => span !== null && (to < span.from || from > span.to));
    this.generation += 1;
  }
}

/** Whether one question tells how many events there are in a time, which is known only about. */
export function isWorthCounting(counts: Counts, { from, to }: Range): boolean {
  const { isExact, most } = countWithin(counts, from, to);
  return !isExact && most <= EVENTS_MAX;
}
