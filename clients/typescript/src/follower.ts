/**
 * What a client knows of a clock, and for how long it may vouch for it. No timers, no network, no clock of its own.
 *
 * Every time that goes in is the host's monotonic time in microseconds. The rules are those of docs/adr/0043, and the
 * vectors in clients/vectors hold every language to them.
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

/** The service says something at least this often. */
const HEARTBEAT_SECONDS = 15;
/** A quiet stream must not count as a dead one: the heartbeat, and time for it to arrive. */
const STALE_AFTER_MIN = 20;
/** How far the clocks of two machines may run apart, for what is said of the uncertainty. */
const DRIFT_PPM = 100n;

/** How long a client vouches for what it knows, in seconds. */
export interface Bounds {
  /** Since the service last said anything. */
  readonly staleAfter: number;
  /** Since the connection was lost. */
  readonly lostAfter: number;
}

export const BOUNDS: Bounds = { staleAfter: 30, lostAfter: 10 };

/** One change of the clock. */
export interface ClockChange {
  readonly before: ClockState;
  readonly after: ClockState;
  /** How far the clock jumped; 0 where it was paused, resumed, or changed its rate. */
  readonly jumpMicros: bigint;
  /** Whether changes in between were left out, or the service went back to an older state. */
  readonly isReset: boolean;
}

/** One reading of the clock. */
export interface Reading {
  readonly now: Instant;
  readonly generation: number;
  readonly state: ClockState;
  /** The clock may be ahead of `now` by this much, in virtual microseconds; null where that is not known. */
  readonly uncertaintyMicros: bigint | null;
}

interface Known {
  readonly state: ClockState;
  /** Host time of the service minus monotonic time here. Never more than it is, so that no reading is ahead. */
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
          `a quiet stream sends a sign of life every ${HEARTBEAT_SECONDS} seconds`,
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

  /** Makes readings stale until the next message, because monotonic time may have stopped here. */
  invalidate(): void {
    this.#isDoubted = true;
  }

  /** Records that the service rejected the stream for good. */
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
    if (known === null) throw new ClockStaleError('the service has not told the clock yet');
    const { state } = known;
    const { generation } = state;
    return { now: state.at(now + known.offset), generation, state, uncertaintyMicros: uncertainty(known, now) };
  }

  /** Returns how much host time is left until the clock shows this; null if it never will as it is. */
  microsUntil(virtualMicros: bigint, now: bigint): bigint | null {
    const host = this.#known?.state.hostWhen(virtualMicros) ?? null;
    if (this.#known === null || host === null) return null;
    return max(host - this.#known.offset - now, 0n);
  }

  /** Returns for how much longer the clock may be vouched for if nothing more is heard. */
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
      const vouched = `this clock vouches for ${staleAfter} s (staleAfter)`;
      throw new ClockStaleError(
        `the service has said nothing for ${seconds(this.#receivedAt)} s, and ${vouched}: ${advice}`,
      );
    }
    if (this.#lost !== null && now - this.#lost > micros(lostAfter)) {
      const vouched = `this clock vouches for ${lostAfter} s (lostAfter)`;
      throw new ClockStaleError(`the connection was lost ${seconds(this.#lost)} s ago, and ${vouched}: ${advice}`);
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

  /** Narrows down how far the service's host time is from monotonic time here. */
  #measure(state: ClockState, current: Instant, now: bigint, isAnswer: boolean): void {
    let first = state.originHost.micros;
    let last: bigint | null = null;
    const isAtAnEnd = current.micros === Instant.MIN.micros || current.micros === Instant.MAX.micros;
    if (state.isRunning && !isAtAnEnd) {
      // All host times at which the clock shows this very microsecond.
      first = state.hostWhen(current.micros) ?? first;
      last = state.hostWhen(current.micros + 1n);
    }
    // The message was written before it came: service time is at least this much ahead of time here.
    this.#low = this.#low === null ? first - now : max(this.#low, first - now);
    if (isAnswer && last !== null) {
      // And after it was asked for.
      const high = last - this.#requestedAt;
      this.#high = this.#high === null ? high : min(this.#high, high);
    }
  }

  /** Returns what is known of a state, with an offset that moves no more than what was measured asks for. */
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
