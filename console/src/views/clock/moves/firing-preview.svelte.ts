/** The firings of a move ahead. If no timer is in between, no request is sent. */
import { isAborted } from '../../../lib/service/api';
import type { Micros } from '../../../lib/time/instant';
import { forecastFirings, type FiringForecast } from '../../../lib/timers/timers';
import type { WatchedTimers } from '../../../lib/timers/watched.svelte';

const NONE: FiringForecast = { to: '', count: 0, complete: true, firings: [], timers: [] };

export class FiringPreview {
  /** Null until loaded, and if the timeline has no timers. */
  would = $state.raw<FiringForecast | null>(null);
  #abortController = new AbortController();

  constructor(
    private readonly timeline: string,
    private readonly upcoming: WatchedTimers,
  ) {}

  /** Requests the firings of a move that ends at `to`. */
  async ask(move: Parameters<typeof forecastFirings>[1], to: Micros): Promise<void> {
    this.#abortController.abort();
    const { next, timers } = this.upcoming;
    if (next === null || next > to) {
      this.would = timers.length === 0 ? null : NONE;
      return;
    }
    this.#abortController = new AbortController();
    try {
      this.would = await forecastFirings(this.timeline, move, this.#abortController.signal);
    } catch (error) {
      // The move itself reports its errors.
      if (!isAborted(error)) this.would = null;
    }
  }

  /** Cancels the request and clears the result. */
  forget(): void {
    this.#abortController.abort();
    this.would = null;
  }
}
