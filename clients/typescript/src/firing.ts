/** The firing that a handler receives, with a clock fixed at its due time. */
import { WaitPastFiringError } from './errors.js';
import { Instant, type When } from './instant.js';
import type { Schema } from './operation-types.js';

/** The clock of a handler. It always shows the due time of the firing, even if the firing is delivered later. */
export class FiringClock {
  readonly #due: Instant;

  constructor(due: Instant) {
    this.#due = due;
  }

  /** Returns the due time of the firing. */
  now(): Instant {
    return this.#due;
  }

  /** Returns the due time as a `Date`. */
  date(): Date {
    return this.#due.toDate();
  }

  /** Returns the due time in whole milliseconds since 1970, like `Date.now()`. */
  millis(): number {
    return this.#due.toMillis();
  }

  /**
   * Returns at once if the due time is at or after the moment. Otherwise throws `WaitPastFiringError`: the clock cannot
   * reach the moment before this handler finishes.
   */
  until(when: When): Instant {
    const target = Instant.of(when);
    if (target.micros > this.#due.micros) {
      throw new WaitPastFiringError(
        `the clock stays at ${String(this.#due)} until this handler is done, so it cannot reach ` +
          `${String(target)}; set a timer for that moment, and return`,
      );
    }
    return this.#due;
  }

  /** Throws `WaitPastFiringError` if the duration, in milliseconds, is more than 0. */
  sleep(ms: number): Instant {
    return this.until(new Instant(this.#due.micros + BigInt(Math.round(ms * 1_000))));
  }
}

/** A due timer, delivered to a handler. `C` is the type of its client. */
export interface Firing<C> {
  /** The id, which is the same for all attempts. Use it to make the handler idempotent. */
  readonly id: string;
  readonly timerId: string;
  readonly timelineId: string;
  /** The due time. */
  readonly due: Instant;
  /** The payload of the timer. */
  readonly payload: unknown;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** The round of the timer, which is incremented when the clock goes back and the timer fires again. */
  readonly round: number;
  /** The generation of the clock. */
  readonly generation: number;
  /** The number of instants that the advance has reached; null outside an advance. */
  readonly step: number | null;
  /** Firings with the same key are delivered one at a time. */
  readonly orderKey: string | null;
  /** The id of the lease, which is new for each claim. Null in responses of older services. */
  readonly leaseId: string | null;
  /** A clock that always shows `due`. */
  readonly clock: FiringClock;
  /** A client for the handler. Its requests carry the id of the firing. */
  readonly client: C;
}

/** Returns the lease of a claimed firing. Older services do not return one. */
function leaseOf(body: Partial<Schema<'ClaimedFiringBody'>>): string | null {
  return body.lease_id ?? null;
}

/** Parses a claimed firing. */
export function firingOf<C>(body: Schema<'ClaimedFiringBody'>, client: C): Firing<C> {
  const due = Instant.parse(body.due);
  return {
    id: body.firing_id,
    timerId: body.timer_id,
    timelineId: body.timeline_id,
    due,
    payload: body.payload,
    attempt: body.attempt,
    round: body.round,
    generation: body.generation,
    step: body.step ?? null,
    orderKey: body.order_key ?? null,
    leaseId: leaseOf(body),
    clock: new FiringClock(due),
    client,
  };
}
