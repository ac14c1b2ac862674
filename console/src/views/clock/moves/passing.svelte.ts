/** What a move would pass: the events between where the clock is and where it would be. */
import { ALL } from '../../../lib/events/filter';
import { readSome, type Some } from '../../../lib/events/counts';
import { isAborted } from '../../../lib/service/api';
import type { Micros } from '../../../lib/time/instant';
import { FIRST, LAST } from '../../../lib/chart/scale';

export class Passing {
  /** Null while it is not known. */
  events = $state.raw<Some | null>(null);
  #asking = new AbortController();

  constructor(private readonly timeline: string) {}

  /** Counts what is between two moments: what is at `from` is passed already, what is at `to` is not yet behind. */
  async ask(from: Micros, to: Micros): Promise<void> {
    this.#asking.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    const [low, high] = from < to ? [from + 1n, to] : [to + 1n, from];
    const range = { from: low < FIRST ? FIRST : low, to: high > LAST ? LAST : high };
    if (range.from > range.to) {
      this.events = { count: 0, isAll: true };
      return;
    }
    try {
      this.events = await readSome({ timeline: this.timeline, filter: ALL, box: null }, range, signal);
    } catch (error) {
      // A move needs no count: nothing is told until the next one works.
      if (!isAborted(error)) this.events = null;
    }
  }

  /** Takes back what was counted for another move. */
  forget(): void {
    this.#asking.abort();
    this.events = null;
  }
}

/** Returns what a move passes, in words. */
export function passesText({ count, isAll }: Some): string {
  if (count === 0) return 'passes no events';
  return `passes ${isAll ? '' : 'more than '}${count.toLocaleString('en')} event${count === 1 ? '' : 's'}`;
}
