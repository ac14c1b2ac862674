/** Named followers of the clock: read after each change of the clock, without polling. */
import { untrack } from 'svelte';
import { hostNow } from '../../../lib/time/host-clock';
import { service } from '../../../lib/service/api';
import type { LiveClock } from '../../../lib/live/clock.svelte';
import { Reading } from '../../../lib/service/reading.svelte';
import type { Fault } from './follower-text';

export interface Follower {
  follower_id: string;
  name: string;
  user_id: string;
  /** The host, as reported by the follower. */
  host?: string | null;
  process?: number | null;
  state: 'up_to_date' | 'lagging' | 'disconnected';
  since: string;
  generation?: number | null;
  confirmed_at?: string | null;
  /** The time from the newest change to its confirmation, as a duration. */
  latency?: string | null;
  disconnected_at?: string | null;
  /** The configured clock fault. */
  fault?: Fault | null;
}

interface FollowersBody {
  generation: number;
  partial?: boolean;
  followers: Follower[];
}

/** Labels of the states. */
export const STATES: Record<Follower['state'], string> = {
  up_to_date: 'Up to date',
  lagging: 'Lagging',
  disconnected: 'Disconnected',
};

/** A running follower confirms a change within this time. */
const CONFIRMED_MS = 700;
/** If a follower lags, the list is read once more after this time. */
const AGAIN_MS = 5_000;

export class WatchedFollowers {
  /** When the list was read, in browser time. */
  readAt = $state(0);
  readonly #reading: Reading<FollowersBody>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(timeline: string, clock: () => LiveClock | null) {
    this.#reading = new Reading(
      (signal) => service.followers({ timeline_id: timeline }, { signal }) as Promise<FollowersBody>,
    );
    $effect(() => () => clearTimeout(this.#timer));
    let isFirst = true;
    $effect(() => {
      if (clock()?.body?.generation === undefined) return;
      const wait = isFirst ? 0 : CONFIRMED_MS;
      isFirst = false;
      untrack(() => this.#later(wait, true));
    });
  }

  get body(): FollowersBody | null {
    return this.#reading.body;
  }

  get error(): unknown {
    return this.#reading.error;
  }

  get isBusy(): boolean {
    return this.#reading.isBusy;
  }

  async read(): Promise<void> {
    await this.#reading.read();
    this.readAt = hostNow();
  }

  #later(ms: number, isAgain: boolean): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#poll(isAgain), ms);
  }

  async #poll(isAgain: boolean): Promise<void> {
    await this.read();
    const hasPendingFollower = this.body?.followers.some(({ state }) => state === 'lagging') ?? false;
    if (isAgain && hasPendingFollower) this.#later(AGAIN_MS, false);
  }
}
