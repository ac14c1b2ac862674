/** Whether a timeline has timers that fire, or have fired. Where there are none, nothing is offered for them. */
import { untrack } from 'svelte';
import type { LiveClock } from '../live/clock.svelte';
import { readTimers } from './timers';
import type { WatchedTimers } from './watched.svelte';

export class AnyTimers {
  isAny = $state(false);
  #asking = new AbortController();

  constructor(
    private readonly timeline: string,
    upcoming: WatchedTimers,
    clock: () => LiveClock | null,
  ) {
    $effect(() => {
      if (upcoming.timers.length > 0) this.isAny = true;
    });
    // Where none is armed, one may have fired: as the page is opened, or when the clock has gone on.
    $effect(() => {
      const generation = clock()?.body?.generation;
      if (!upcoming.isRead || upcoming.timers.length > 0 || generation === undefined) return;
      untrack(() => void this.#ask());
    });
  }

  async #ask(): Promise<void> {
    if (this.isAny) return;
    this.#asking.abort();
    this.#asking = new AbortController();
    try {
      const { timers } = await readTimers(this.timeline, { state: 'done', limit: 1, signal: this.#asking.signal });
      if (timers.length > 0) this.isAny = true;
    } catch {
      // What cannot be read is not offered; whoever moves the clock is told why.
    }
  }

  close(): void {
    this.#asking.abort();
  }
}
