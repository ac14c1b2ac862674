/**
 * Who holds the clock without a firing: read when the clock or an advance says that there may be something new. How
 * long each lease still lasts is worked out here, and those that end leave without a question.
 */
import { untrack } from 'svelte';
import { service } from '../api';
import type { LiveClock } from '../clock.svelte';
import { hostNow } from '../host-clock';
import { Reading } from '../reading.svelte';
import { standing, type Lease } from './leases';
import type { Settled } from './timers';

const SECOND_MS = 1_000;

export class WatchedLeases {
  /** Host time, while there are leases. */
  hostMs = $state(hostNow());
  readonly #reading: Reading<Lease[]>;
  /** Those that stand; null until they were read. */
  leases = $derived.by<Lease[] | null>(() => this.#reading.body && standing(this.#reading.body, this.hostMs));

  constructor(
    private readonly timeline: string,
    clock: () => LiveClock | null,
    receipt: () => Settled | null,
    /** Whether they are of interest while no advance goes on. */
    isAlways: boolean,
  ) {
    this.#reading = new Reading(async (signal) => (await service.leases({ timeline_id: timeline }, { signal })).leases);
    const generation = $derived(clock()?.body?.generation);
    const isHeld = $derived(receipt()?.state === 'running');
    // A running advance tells whose lease holds it, each time it is asked for.
    const heldBy = $derived(isHeld ? receipt()?.held_by : null);
    $effect(() => {
      void heldBy;
      if (generation === undefined || !(isAlways || isHeld)) return;
      untrack(() => void this.read());
    });
    const isTicking = $derived((this.leases?.length ?? 0) > 0);
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

  /** Holds the clock. Throws what the service refuses. */
  async hold(reason: string, ttl: string): Promise<string> {
    const { status } = await service.holdAdvances({ timeline_id: this.timeline, reason, ttl });
    await this.read();
    return status;
  }

  /** Releases a lease of the user's own. Throws what the service refuses. */
  async release({ lease_id }: Lease): Promise<string> {
    const { status } = await service.releaseLease({ timeline_id: this.timeline, lease_id });
    await this.read();
    return status;
  }

  close(): void {
    this.#reading.stop();
  }
}
