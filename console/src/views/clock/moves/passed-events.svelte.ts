/** The number of events between the current time and the target of a move. */
import { countText } from '../../../lib/events/words';
import { ALL } from '../../../lib/events/filter';
import { readPartialCount, type PartialCount } from '../../../lib/events/counts';
import { isAborted } from '../../../lib/service/api';
import type { Micros } from '../../../lib/time/instant';
import { FIRST, LAST } from '../../../lib/chart/scale';

export class PassedEvents {
  /** Null while unknown. */
  events = $state.raw<PartialCount | null>(null);
  #abortController = new AbortController();

  constructor(private readonly timeline: string) {}

  /** Counts events between two instants: the earlier one is excluded, the later one is included. */
  async ask(from: Micros, to: Micros): Promise<void> {
    this.#abortController.abort();
    this.#abortController = new AbortController();
    const { signal } = this.#abortController;
    const [low, high] = from < to ? [from + 1n, to] : [to + 1n, from];
    const range = { from: low < FIRST ? FIRST : low, to: high > LAST ? LAST : high };
    if (range.from > range.to) {
      this.events = { count: 0, isAll: true };
      return;
    }
    try {
      this.events = await readPartialCount({ timeline: this.timeline, filter: ALL, box: null }, range, signal);
    } catch (error) {
      // The count is optional: without it, nothing is shown.
      if (!isAborted(error)) this.events = null;
    }
  }

  /** Cancels the request and clears the result. */
  forget(): void {
    this.#abortController.abort();
    this.events = null;
  }
}

/** Formats the number of events passed. */
export function eventsPassedText({ count, isAll }: PartialCount): string {
  if (count === 0) return 'passes no events';
  return `passes ${isAll ? '' : 'more than '}${countText(count, 'event')}`;
}
