/** What a move ahead would fire. Nothing is asked where no timer is in between. */
import { isAborted } from '../../../lib/service/api';
import type { Micros } from '../../../lib/time/instant';
import { foresee, type WouldFire } from '../../../lib/timers/timers';
import type { WatchedTimers } from '../../../lib/timers/watched.svelte';

const NONE: WouldFire = { to: '', count: 0, complete: true, firings: [], timers: [] };

export class Foreseen {
  /** Null while it is not known, and where nobody sets timers. */
  would = $state.raw<WouldFire | null>(null);
  #asking = new AbortController();

  constructor(
    private readonly timeline: string,
    private readonly upcoming: WatchedTimers,
  ) {}

  /** Asks for a move that would end at `to`. */
  async ask(move: Parameters<typeof foresee>[1], to: Micros): Promise<void> {
    this.#asking.abort();
    const { next, timers } = this.upcoming;
    if (next === null || next > to) {
      this.would = timers.length === 0 ? null : NONE;
      return;
    }
    this.#asking = new AbortController();
    try {
      this.would = await foresee(this.timeline, move, this.#asking.signal);
    } catch (error) {
      // The move itself says what is wrong with it.
      if (!isAborted(error)) this.would = null;
    }
  }

  /** Takes back what was asked for another move. */
  forget(): void {
    this.#asking.abort();
    this.would = null;
  }
}
