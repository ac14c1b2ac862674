/**
 * The client-side state of a clock, and how long it remains valid. Contains no timers, network access or clock.
 *
 * All times passed in are the host's monotonic time in microseconds. The rules are those of docs/adr/0043, and the
 * vectors in clients/vectors test all languages against them.
 */
import { ClockState } from './clock-state.js';
import {
  ClockClosedError,
  ClockAccessError,
  ClockStaleError,
  type ClockUnavailableError,
  type ApiError,
} from './errors.js';
import { floorDiv, Instant } from './instant.js';
import type { Schema } from './shapes.js';

/** The maximum interval between messages of the service on a stream. */
const HEARTBEAT_SECONDS = 15;
/**
 * The lower limit of `staleAfter`: the heartbeat interval, plus time for a heartbeat to arrive. An idle stream is not a
 * broken one.
 */
const STALE_AFTER_MIN = 20;
/** The assumed drift between the clocks of two machines, used for the uncertainty. */
const DRIFT_PPM = 100n;

/** The staleness bounds of a clock, in seconds. */
export interface Bounds {
  /** Counted from the last message of the service. */
  readonly staleAfter: number;
  /** Counted from the loss of the connection. */
  readonly lostAfter: number;
}

export const BOUNDS: Bounds = { staleAfter: 30, lostAfter: 10 };

/** A change of the clock. */
export interface ClockChange {
  readonly before: ClockState;
  readonly after: ClockState;
  /** The size of the jump in microseconds; 0 if the clock was paused, resumed, or changed its rate. */
  readonly jumpMicros: bigint;
  /** Whether changes in between were lost, or the service went back to an older state. */
  readonly isReset: boolean;
}

/** A reading of the clock. */
export interface Reading {
  readonly now: Instant;
  readonly generation: number;
  readonly state: ClockState;
  /** The clock may be ahead of `now` by this much, in virtual microseconds; null if that is unknown. */
  readonly uncertaintyMicros: bigint | null;
}

interface Known {
  readonly state: ClockState;
  /** The service's host time minus the local monotonic time. A lower bound, so that no reading is ahead. */
  readonly offset: bigint;
  readonly offsetMax: bigint | null;
  readonly measured: bigint;
}

type Body = Schema<'ClockBody'>;

export class Follower {
  #known: Known | null = null;
  #requestedAt = 0n;
  #receivedAt = 0n;
  #lost: bigint | null = 0n;
  #isDoubted = false;
  #awaited = -1;
  #low: bigint | null = null;
  #high: bigint | null = null;
  #end: ClockUnavailableError | null = null;

  constructor(readonly bounds: Bounds) {
    if (!(bounds.staleAfter >= STALE_AFTER_MIN)) {
      throw new RangeError(
        `staleAfter must be at least ${STALE_AFTER_MIN} seconds, not ${bounds.staleAfter}: ` +
          `an idle stream sends a heartbeat every ${HEARTBEAT_SECONDS} seconds`,
      );
    }
    if (!(bounds.lostAfter >= 0)) {
      throw new RangeError(`lostAfter must be 0 seconds or more, not ${bounds.lostAfter}`);
    }
  }

  /** The last known state, valid or not. */
  get state(): ClockState | null {
    return this.#known?.state ?? null;
  }

  /** Whether the stream is open and up to date. */
  get isConnected(): boolean {
    return this.#lost === null && !this.#isDoubted;
  }

  /** The error that ended this follower, if it has ended. */
  get end(): ClockUnavailableError | null {
    return this.#end;
  }

  /** Records that a request was sent on a new connection: its response is not older than this. */
  requestSent(now: bigint): void {
    [this.#requestedAt, this.#low, this.#high] = [now, null, null];
  }

  /** Records that the stream is alive: a message or a keep-alive arrived. */
  messageReceived(now: bigint): void {
    this.#receivedAt = now;
  }

  /** Records that a stream is open again and continues from the known state. */
  streamOpened(now: bigint): void {
    this.#receivedAt = now;
    if (this.#known !== null && this.#known.state.generation >= this.#awaited) this.#found();
  }

  /** Records that the connection was lost. */
  connectionLost(now: bigint): void {
    this.#lost ??= now;
  }

  /**
   * Invalidates readings until the next message, because the monotonic clock may have stopped during a system sleep.
   */
  invalidate(): void {
    this.#isDoubted = true;
  }

  /** Records that the service rejected the stream permanently. */
  rejected(problem: ApiError): void {
    this.#end ??= new ClockAccessError(problem);
  }

  /** Records that the clock was closed. */
  closed(): void {
    this.#end ??= new ClockClosedError('the clock was closed; open another one with virtualClock()');
  }

  /**
   * Applies the response to a request for the clock, sent before a stream is reopened.
   *
   * Newer changes are left to the stream, which reports each of them; until then, readings are stale. An older
   * generation, or the same one with a different history, means that the service was rolled back, and is a reset.
   */
  applyResponse(body: Body, now: bigint): ClockChange | null {
    const state = ClockState.of(body);
    const known = this.#known;
    this.#measure(state, Instant.parse(body.current_time), now, true);
    const isSame = known?.state.generation === state.generation;
    const hasDifferentHistory = isSame && !known.state.hasSameReadings(state);
    if (known === null || state.generation < known.state.generation || hasDifferentHistory) {
      return this.#take(state, now, known !== null);
    }
    this.#receivedAt = now;
    this.#awaited = state.generation;
    if (isSame) this.#known = this.#with(known.state, now);
    return null;
  }

  /** Applies a message of the stream. `isFirst` if it responds to the last recorded request. */
  applyMessage(event: string, body: Body, now: bigint, isFirst = false): ClockChange | null {
    this.#receivedAt = now;
    const state = ClockState.of(body);
    const isReset = event === 'reset';
    if (this.#known !== null && state.generation <= this.#known.state.generation && !isReset) return null;
    this.#measure(state, Instant.parse(body.current_time), now, isFirst);
    return this.#take(state, now, isReset);
  }

  /** Returns the virtual time, or throws `ClockUnavailableError`. */
  read(now: bigint): Reading {
    this.#vouch(now);
    const known = this.#known;
    if (known === null) throw new ClockStaleError('the service has not sent the clock yet');
    const { state } = known;
    const { generation } = state;
    return { now: state.at(now + known.offset), generation, state, uncertaintyMicros: uncertainty(known, now) };
  }

  /** Returns the host time until the clock shows this, in microseconds; null if a change is needed for that. */
  microsUntil(virtualMicros: bigint, now: bigint): bigint | null {
    const host = this.#known?.state.hostWhen(virtualMicros) ?? null;
    if (this.#known === null || host === null) return null;
    return max(host - this.#known.offset - now, 0n);
  }

  /** Returns how long the state remains valid if no further message arrives, in microseconds. */
  microsVouched(now: bigint): bigint {
    const silent = this.#receivedAt + micros(this.bounds.staleAfter) - now;
    const lost = this.#lost === null ? silent : this.#lost + micros(this.bounds.lostAfter) - now;
    return this.#isDoubted ? 0n : max(min(silent, lost), 0n);
  }

  #vouch(now: bigint): void {
    if (this.#end !== null) throw this.#end;
    const { staleAfter, lostAfter } = this.bounds;
    const advice = 'check that the service runs and can be reached; the clock keeps trying to reconnect';
    const seconds = (since: bigint): string => (Number(now - since) / 1e6).toFixed(1);
    if (this.#isDoubted) throw new ClockStaleError(`this machine may have slept: ${advice}`);
    if (now - this.#receivedAt > micros(staleAfter)) {
      const bound = `this clock is valid for only ${staleAfter} s (staleAfter)`;
      throw new ClockStaleError(
        `the service has sent nothing for ${seconds(this.#receivedAt)} s, but ${bound}: ${advice}`,
      );
    }
    if (this.#lost !== null && now - this.#lost > micros(lostAfter)) {
      const bound = `this clock is valid for only ${lostAfter} s (lostAfter)`;
      throw new ClockStaleError(`the connection was lost ${seconds(this.#lost)} s ago, but ${bound}: ${advice}`);
    }
  }

  #found(): void {
    this.#lost = null;
    this.#isDoubted = false;
  }

  #take(state: ClockState, now: bigint, isReset: boolean): ClockChange | null {
    const before = this.#known?.state;
    this.#known = this.#with(state, now);
    this.#receivedAt = now;
    if (isReset) this.#awaited = state.generation;
    if (state.generation >= this.#awaited) this.#found();
    if (before === undefined) return null;
    const jumpMicros = state.originVirtual.micros - before.at(state.originHost.micros).micros;
    return { before, after: state, jumpMicros, isReset };
  }

  /** Narrows the offset between the service's host time and the local monotonic time. */
  #measure(state: ClockState, current: Instant, now: bigint, isAnswer: boolean): void {
    let first = state.originHost.micros;
    let last: bigint | null = null;
    const isAtAnEnd = current.micros === Instant.MIN.micros || current.micros === Instant.MAX.micros;
    if (state.isRunning && !isAtAnEnd) {
      // Include all host times at which the clock shows this very microsecond.
      first = state.hostWhen(current.micros) ?? first;
      last = state.hostWhen(current.micros + 1n);
    }
    // The message was written before it arrived, which bounds the offset from below.
    this.#low = this.#low === null ? first - now : max(this.#low, first - now);
    if (isAnswer && last !== null) {
      // It was written after the request, which bounds the offset from above.
      const high = last - this.#requestedAt;
      this.#high = this.#high === null ? high : min(this.#high, high);
    }
  }

  /** Returns the data of a state, with the offset changed no more than the measurement requires. */
  #with(state: ClockState, now: bigint): Known {
    const low = this.#low ?? 0n;
    const high = this.#high === null ? null : max(this.#high, low);
    const least = max(this.#known?.offset ?? low, low);
    return { state, offset: high === null ? least : min(least, high), offsetMax: high, measured: now };
  }
}

function uncertainty(known: Known, now: bigint): bigint | null {
  if (!known.state.isRunning) return 0n;
  if (known.offsetMax === null) return null;
  const host = known.offsetMax - known.offset + floorDiv((now - known.measured) * DRIFT_PPM, 1_000_000n);
  return -floorDiv(-host * known.state.rateMicros, 1_000_000n);
}

function micros(seconds: number): bigint {
  return BigInt(Math.round(seconds * 1e6));
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
