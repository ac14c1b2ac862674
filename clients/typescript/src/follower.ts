/**
 * The client-side state of a clock, and how long it remains valid. Uses no timer, network or clock.
 *
 * All times are passed in, as the host's monotonic time in microseconds. docs/adr/0043 has the rules; clients/vectors
 * tests them in all languages.
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
import type { Schema } from './operation-types.js';

/** The maximum interval between messages of the service on a stream. */
const HEARTBEAT_SECONDS = 15;
/** The minimum of `staleAfterMs`: the heartbeat interval, plus time for a heartbeat to arrive. */
const STALE_AFTER_MS_MIN = 20_000;
/** The assumed drift between the clocks of two machines, in parts per million. */
const DRIFT_PPM = 100n;

/** The staleness bounds of a clock, in milliseconds. */
export interface StalenessBounds {
  /** Counted from the last message of the service. Defaults to 30 seconds, at least 20 seconds. */
  readonly staleAfterMs: number;
  /** Counted from the loss of the connection. Defaults to 10 seconds. */
  readonly lostAfterMs: number;
}

export const STALENESS_BOUNDS_DEFAULT: StalenessBounds = { staleAfterMs: 30_000, lostAfterMs: 10_000 };

/** A change of the clock. */
export interface ClockChange {
  readonly before: ClockState;
  readonly after: ClockState;
  /** The size of the jump in microseconds; 0 if the clock was paused, resumed, or changed its rate. */
  readonly jumpMicros: bigint;
  /** Whether changes in between may be missing, or the service was rolled back to an older state. */
  readonly isReset: boolean;
}

/** A reading of the clock. */
export interface Reading {
  readonly now: Instant;
  readonly generation: number;
  readonly state: ClockState;
  /** How far the service's clock may be ahead of `now`, in virtual microseconds; null if unknown. */
  readonly uncertaintyMicros: bigint | null;
}

interface Calibration {
  readonly state: ClockState;
  /** The service's host time minus the local monotonic time. A lower bound, so that readings are never ahead. */
  readonly offset: bigint;
  readonly offsetMax: bigint | null;
  readonly measuredAt: bigint;
}

type Body = Schema<'ClockBody'>;

/** Processes the messages of a stream, and computes readings. */
export class Follower {
  #calibration: Calibration | null = null;
  #requestedAt = 0n;
  #receivedAt = 0n;
  #lostAt: bigint | null = 0n;
  #isInvalidated = false;
  #awaited = -1;
  #low: bigint | null = null;
  #high: bigint | null = null;
  #end: ClockUnavailableError | null = null;

  constructor(readonly bounds: StalenessBounds) {
    if (!(bounds.staleAfterMs >= STALE_AFTER_MS_MIN)) {
      throw new RangeError(
        `staleAfterMs must be at least ${STALE_AFTER_MS_MIN}, not ${bounds.staleAfterMs}: ` +
          `an idle stream sends a heartbeat every ${HEARTBEAT_SECONDS} seconds`,
      );
    }
    if (!(bounds.lostAfterMs >= 0)) {
      throw new RangeError(`lostAfterMs must be 0 or more, not ${bounds.lostAfterMs}`);
    }
  }

  /** The last known state, valid or not. */
  get state(): ClockState | null {
    return this.#calibration?.state ?? null;
  }

  /** Whether the stream is open and up to date. */
  get isConnected(): boolean {
    return this.#lostAt === null && !this.#isInvalidated;
  }

  /** The error that ended this follower, if it has ended. */
  get end(): ClockUnavailableError | null {
    return this.#end;
  }

  /** Records that a request was sent on a new connection. Its response is not older than `now`. */
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
    if (this.#calibration !== null && this.#calibration.state.generation >= this.#awaited) this.#markConnected();
  }

  /** Records that the connection was lost. */
  connectionLost(now: bigint): void {
    this.#lostAt ??= now;
  }

  /**
   * Invalidates readings until the clock reconnects, because the monotonic clock may have stopped during system sleep.
   */
  invalidate(): void {
    this.#isInvalidated = true;
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
   * Applies the response to `GET /v1/clock`, which is requested before a stream is reopened.
   *
   * A newer generation is not applied, because the stream reports each missed change; until it has, reads fail once the
   * bounds are exceeded. An older generation, or the same one with a different history, means that the service was
   * rolled back, and is a reset.
   */
  applyResponse(body: Body, now: bigint): ClockChange | null {
    const state = ClockState.of(body);
    const calibration = this.#calibration;
    this.#measure(state, Instant.parse(body.current_time), now, true);
    const isSame = calibration?.state.generation === state.generation;
    const hasDifferentHistory = isSame && !calibration.state.hasSameReadings(state);
    if (calibration === null || state.generation < calibration.state.generation || hasDifferentHistory) {
      return this.#take(state, now, calibration !== null);
    }
    this.#receivedAt = now;
    this.#awaited = state.generation;
    if (isSame) this.#calibration = this.#with(calibration.state, now);
    return null;
  }

  /** Applies a message of the stream. `isFirst` marks the response to the last recorded request. */
  applyMessage(event: string, body: Body, now: bigint, isFirst = false): ClockChange | null {
    this.#receivedAt = now;
    const state = ClockState.of(body);
    const isReset = event === 'reset';
    if (this.#calibration !== null && state.generation <= this.#calibration.state.generation && !isReset) return null;
    this.#measure(state, Instant.parse(body.current_time), now, isFirst);
    return this.#take(state, now, isReset);
  }

  /** Returns the reading, or throws `ClockUnavailableError`. */
  read(now: bigint): Reading {
    this.#checkValid(now);
    const calibration = this.#calibration;
    if (calibration === null) throw new ClockStaleError('the service has not sent the clock yet');
    const { state } = calibration;
    const { generation } = state;
    return {
      now: state.at(now + calibration.offset),
      generation,
      state,
      uncertaintyMicros: uncertainty(calibration, now),
    };
  }

  /** Returns the host time until the clock shows this, in microseconds; null if it never does. */
  microsUntil(virtualMicros: bigint, now: bigint): bigint | null {
    const host = this.#calibration?.state.hostTimeAt(virtualMicros) ?? null;
    if (this.#calibration === null || host === null) return null;
    return max(host - this.#calibration.offset - now, 0n);
  }

  /** Returns how long the state remains valid if no further message arrives, in microseconds. */
  microsValid(now: bigint): bigint {
    const silent = this.#receivedAt + micros(this.bounds.staleAfterMs) - now;
    const lost = this.#lostAt === null ? silent : this.#lostAt + micros(this.bounds.lostAfterMs) - now;
    return this.#isInvalidated ? 0n : max(min(silent, lost), 0n);
  }

  #checkValid(now: bigint): void {
    if (this.#end !== null) throw this.#end;
    const { staleAfterMs, lostAfterMs } = this.bounds;
    const advice = 'check that the service is running and reachable; the clock keeps trying to reconnect';
    const seconds = (since: bigint): string => (Number(now - since) / 1e6).toFixed(1);
    if (this.#isInvalidated) throw new ClockStaleError(`this machine may have been asleep: ${advice}`);
    if (now - this.#receivedAt > micros(staleAfterMs)) {
      const bound = `staleAfterMs is ${staleAfterMs}`;
      throw new ClockStaleError(
        `the service has sent nothing for ${seconds(this.#receivedAt)} s (${bound}): ${advice}`,
      );
    }
    if (this.#lostAt !== null && now - this.#lostAt > micros(lostAfterMs)) {
      const bound = `lostAfterMs is ${lostAfterMs}`;
      throw new ClockStaleError(`the connection was lost ${seconds(this.#lostAt)} s ago (${bound}): ${advice}`);
    }
  }

  #markConnected(): void {
    this.#lostAt = null;
    this.#isInvalidated = false;
  }

  #take(state: ClockState, now: bigint, isReset: boolean): ClockChange | null {
    const before = this.#calibration?.state;
    this.#calibration = this.#with(state, now);
    this.#receivedAt = now;
    if (isReset) this.#awaited = state.generation;
    if (state.generation >= this.#awaited) this.#markConnected();
    if (before === undefined) return null;
    const jumpMicros = state.originVirtual.micros - before.at(state.originHost.micros).micros;
    return { before, after: state, jumpMicros, isReset };
  }

  /** Narrows the offset between the service's host time and the local monotonic time. */
  #measure(state: ClockState, current: Instant, now: bigint, isResponse: boolean): void {
    let first = state.originHost.micros;
    let last: bigint | null = null;
    const isAtLimit = current.micros === Instant.MIN.micros || current.micros === Instant.MAX.micros;
    if (state.isRunning && !isAtLimit) {
      // The range of host times at which the clock shows this microsecond.
      first = state.hostTimeAt(current.micros) ?? first;
      last = state.hostTimeAt(current.micros + 1n);
    }
    // The message was written before it arrived: a lower bound of the offset.
    this.#low = this.#low === null ? first - now : max(this.#low, first - now);
    if (isResponse && last !== null) {
      // The response was written after the request: an upper bound of the offset.
      const high = last - this.#requestedAt;
      this.#high = this.#high === null ? high : min(this.#high, high);
    }
  }

  /** Returns the parameters of readings, with the smallest offset change that satisfies the measurements. */
  #with(state: ClockState, now: bigint): Calibration {
    const low = this.#low ?? 0n;
    const high = this.#high === null ? null : max(this.#high, low);
    const least = max(this.#calibration?.offset ?? low, low);
    return { state, offset: high === null ? least : min(least, high), offsetMax: high, measuredAt: now };
  }
}

function uncertainty(calibration: Calibration, now: bigint): bigint | null {
  if (!calibration.state.isRunning) return 0n;
  if (calibration.offsetMax === null) return null;
  const host =
    calibration.offsetMax - calibration.offset + floorDiv((now - calibration.measuredAt) * DRIFT_PPM, 1_000_000n);
  return -floorDiv(-host * calibration.state.rateMicros, 1_000_000n);
}

function micros(ms: number): bigint {
  return BigInt(Math.round(ms * 1_000));
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
