/** What a handler is given: a firing, and the clock that stands at its moment. */
import { BeyondFiringError } from './errors.js';
import { Instant, type When } from './instant.js';
import type { Schema } from './shapes.js';

/** The clock of a handler. It stands at the moment of the firing, however late the firing was handed out. */
export class FiringClock {
  readonly #due: Instant;

  constructor(due: Instant) {
    this.#due = due;
  }

  /** Returns the moment of the firing. */
  now(): Instant {
    return this.#due;
  }

  /** Returns the moment as a `Date`. */
  date(): Date {
    return this.#due.toDate();
  }

  /** Returns the moment in whole milliseconds since 1970, as `Date.now()` does. */
  millis(): number {
    return this.#due.toMillis();
  }

  /** Returns at once if the moment has come. Throws `BeyondFiringError` if not: nobody waits for themselves. */
  until(when: When): Instant {
    const target = Instant.of(when);
    if (target.micros > this.#due.micros) {
      throw new BeyondFiringError(
        `the clock stands at ${String(this.#due)} until this handler is done, so it does not come to ` +
          `${String(target)}; set a timer for that moment, and return`,
      );
    }
    return this.#due;
  }

  /** Throws `BeyondFiringError` if the length, in milliseconds, is more than 0. */
  sleep(ms: number): Instant {
    return this.until(new Instant(this.#due.micros + BigInt(Math.round(ms * 1_000))));
  }
}

/** A due moment of a timer, for a handler. `C` is its client. */
export interface Firing<C> {
  /** The same for all attempts: store it if processing a firing twice would do harm. */
  readonly id: string;
  readonly timerId: string;
  readonly timelineId: string;
  /** The due time. */
  readonly due: Instant;
  /** The payload of the timer. */
  readonly payload: unknown;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** The round of the timer: it grows when the clock goes back and the timer fires again. */
  readonly round: number;
  /** The generation of the clock. */
  readonly generation: number;
  /** The number of instants that the advance has reached; null outside an advance. */
  readonly step: number | null;
  /** Firings with the same key are processed one after the other. */
  readonly orderKey: string | null;
  /** The id of this claim's lease; every claim has a new one. Null if the service has none. */
  readonly leaseId: string | null;
  /** A clock that stays at `due`. */
  readonly clock: FiringClock;
  /** A client for the handler: its requests name the firing. */
  readonly client: C;
}

/** Returns the lease of a firing that was claimed. A service of an earlier version tells none. */
function leaseOf(body: Partial<Schema<'ClaimedFiringBody'>>): string | null {
  return body.lease_id ?? null;
}

/** Reads a firing that was claimed. */
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
