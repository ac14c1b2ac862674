/** Whether a timeline has or had timers. Without any, the timer UI is hidden. */
import { untrack } from 'svelte';
import type { LiveClock } from '../live/clock.svelte';
import { readTimers } from './timers';
import type { WatchedTimers } from './watched.svelte';

export class AnyTimers {
  isAny = $state(false);
  #abort = new AbortController();

  constructor(
    private readonly timeline: string,
    upcoming: WatchedTimers,
    clock: () => LiveClock | null,
  ) {
    $effect(() => () => this.#abort.abort());
    $effect(() => {
      if (upcoming.timers.length > 0) this.isAny = true;
    });
    // If none is armed, some may have fired: check when the page opens and when the clock changes.
    $effect(() => {
      const generation = clock()?.body?.generation;
      if (!upcoming.isRead || upcoming.timers.length > 0 || generation === undefined) return;
      untrack(() => void this.#check());
    });
  }

  async #check(): Promise<void> {
    if (this.isAny) return;
    this.#abort.abort();
    this.#abort = new AbortController();
    try {
      const { timers } = await readTimers(this.timeline, { state: 'done', limit: 1, signal: this.#abort.signal });
      if (timers.length > 0) this.isAny = true;
    } catch {
      // On errors, hide the timer UI; moving the clock reports the error.
    }
  }
}
