/**
 * Holds on the clock. Read again when the clock or an advance indicates a change. Remaining times are computed locally,
 * and expired holds disappear without a request.
 */
import { untrack } from 'svelte';
import { service } from '../service/api';
import type { LiveClock } from '../live/clock.svelte';
import { hostNow } from '../time/host-clock';
import { Reading } from '../service/reading.svelte';
import { activeHolds, type Hold } from './holds';
import type { AdvanceReceipt } from './timers';

const SECOND_MS = 1_000;

export class WatchedHolds {
  /** Host time, updated while there are holds. */
  hostMs = $state(hostNow());
  readonly #reading: Reading<Hold[]>;
  /** Active holds; null until they are loaded. */
  holds = $derived.by<Hold[] | null>(() => this.#reading.body && activeHolds(this.#reading.body, this.hostMs));

  constructor(
    private readonly timeline: string,
    clock: () => LiveClock | null,
    receipt: () => AdvanceReceipt | null,
    /** Whether to load holds even if no advance is running. */
    isAlways: boolean,
  ) {
    this.#reading = new Reading(async (signal) => (await service.holds({ timeline_id: timeline }, { signal })).holds);
    const generation = $derived(clock()?.body?.generation);
    const isHeld = $derived(receipt()?.state === 'running');
    // A running advance names the owner of its hold in each response.
    const heldBy = $derived(isHeld ? receipt()?.held_by : null);
    $effect(() => {
      void heldBy;
      if (generation === undefined || !(isAlways || isHeld)) return;
      untrack(() => void this.read());
    });
    const isTicking = $derived((this.holds?.length ?? 0) > 0);
    $effect(() => {
      if (!isTicking) return;
      const timer = setInterval(() => (this.hostMs = hostNow()), SECOND_MS);
      return () => clearInterval(timer);
    });
  }

  get error(): unknown {
    return this.#reading.error;
  }

  get isBusy(): boolean {
    return this.#reading.isBusy;
  }

  async read(): Promise<void> {
    await this.#reading.read();
    this.hostMs = hostNow();
  }

  /** Takes a hold. Throws if the service rejects it. */
  async hold(reason: string, ttl: string): Promise<string> {
    const { status } = await service.holdAdvances({ timeline_id: this.timeline, reason, ttl });
    await this.read();
    return status;
  }

  /** Releases one of the user's holds. Throws if the service rejects it. */
  async release({ hold_id }: Hold): Promise<string> {
    const { status } = await service.releaseHold({ timeline_id: this.timeline, hold_id });
    await this.read();
    return status;
  }
}
