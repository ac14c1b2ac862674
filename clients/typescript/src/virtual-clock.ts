/// <reference lib="esnext.disposable" preserve="true" />
/** The clock of a timeline. */
import { ClockUnavailableError, TimenavError, TimeoutError, ApiConnectionError } from './errors.js';
import { Follower, type StalenessBounds, type ClockChange, type Reading } from './follower.js';
import * as host from './host-time.js';
import { Instant, type When } from './instant.js';
import { Backoff, isFinal } from './retry.js';
import type { ClockState } from './clock-state.js';
import { Confirmer } from './confirmer.js';
import type { Settings } from './settings.js';
import type { Schema } from './operation-types.js';
import { EventReader } from './sse.js';
import { readJson, reason, rejection } from './transport.js';

type ChangeListener = (change: ClockChange) => unknown;
type Body = Schema<'ClockBody'>;

/** Options of a wait. */
export interface WaitOptions {
  signal?: AbortSignal;
  /** The limit of the wait, in milliseconds of host time. */
  timeoutMs?: number;
}

/**
 * The tolerated drift between the wall clock and the monotonic clock, in milliseconds. A larger drift means that the
 * machine slept, or that the wall clock was set.
 */
const DRIFT_MS_MAX = 1_000;

/** The clock of a timeline. It subscribes once; reads then send no request. */
export class VirtualClock {
  readonly #settings: Settings;
  readonly #timelineId: string | null;
  readonly #follow: string | null;
  readonly #confirmer: Confirmer;
  readonly #follower: Follower;
  readonly #listeners = new Set<ChangeListener>();
  readonly #wakers = new Set<() => void>();
  readonly #closing = new AbortController();
  #connection: AbortController | null = null;
  #failure: Error | null = null;
  #wallAhead = host.wallAheadMs();

  private constructor(settings: Settings, timelineId: string | null, bounds: StalenessBounds, follow: string | null) {
    this.#settings = settings;
    this.#timelineId = timelineId;
    this.#follow = follow;
    this.#confirmer = new Confirmer(settings, this.#closing.signal);
    this.#follower = new Follower(bounds);
  }

  /** Subscribes, and resolves when the initial state has arrived. `Client.virtualClock` calls it. */
  static async open(
    settings: Settings,
    timelineId: string | null,
    bounds: StalenessBounds,
    timeoutMs: number,
    follow: string | null = null,
  ): Promise<VirtualClock> {
    const clock = new VirtualClock(settings, timelineId, bounds, follow);
    void clock.#run();
    const limit = host.monotonicMicros() + BigInt(Math.round(timeoutMs * 1_000));
    while (clock.#follower.state === null && clock.#follower.end === null) {
      const remaining = limit - host.monotonicMicros();
      if (remaining <= 0n) break;
      await clock.#next(Number(remaining) / 1_000);
    }
    if (clock.#follower.state !== null) return clock;
    const failure = clock.#failure ?? new ClockUnavailableError('the service did not send the clock in time');
    clock.close();
    throw failure;
  }

  /**
   * Returns the clock's reading and the state from which it was computed. If the reading is not reliable, throws a
   * subclass of `ClockUnavailableError`: `ClockStaleError`, `ClockAccessError` or `ClockClosedError`.
   */
  reading(): Reading {
    if (Math.abs(host.wallAheadMs() - this.#wallAhead) > DRIFT_MS_MAX) this.#invalidate();
    return this.#follower.read(host.monotonicMicros());
  }

  /** Returns the clock's reading, to the microsecond, in the range −9999 to 9999. */
  now(): Instant {
    return this.reading().now;
  }

  /** Returns the clock's reading as a `Date`. */
  date(): Date {
    return this.now().toDate();
  }

  /** Returns the clock's reading in whole milliseconds since 1970, like `Date.now()`. */
  millis(): number {
    return this.now().toMillis();
  }

  /** The last known state of the clock. Throws `ClockUnavailableError` if it is not reliable. */
  get state(): ClockState {
    return this.reading().state;
  }

  get timelineId(): string {
    return this.state.timelineId;
  }

  /** The number of changes of the clock. */
  get generation(): number {
    return this.state.generation;
  }

  /** Virtual seconds per host second. */
  get rate(): number {
    return this.state.rate;
  }

  /** Whether virtual time passes. */
  get isRunning(): boolean {
    return this.state.isRunning;
  }

  /** Whether the stream is open and up to date. */
  get isConnected(): boolean {
    return this.#follower.end === null && this.#follower.isConnected;
  }

  /** Formats the timeline and the reading, for logs. */
  toString(): string {
    const { state } = this.#follower;
    const timeline = state?.timelineId ?? this.#timelineId;
    const name = timeline === null ? 'VirtualClock' : `VirtualClock of ${timeline}`;
    try {
      const { now, state: known } = this.reading();
      return `<${name} at ${String(now)}, ${known.isRunning ? `running at rate ${known.rate}` : 'paused'}>`;
    } catch (error) {
      return `<${name}: ${reason(error)}>`;
    }
  }

  /** Calls a function after each change of the clock, in order. Returns a function that removes the listener. */
  onChange(listener: ChangeListener): () => void {
    // A wrapper, so that a function registered twice is called twice.
    const registered: ChangeListener = (change) => listener(change);
    this.#listeners.add(registered);
    return () => void this.#listeners.delete(registered);
  }

  /**
   * Calls a function after each change that made the clock jump, such as a travel. Returns a function that removes the
   * listener.
   */
  onJump(listener: ChangeListener): () => void {
    return this.onChange((change) => (change.jumpMicros === 0n ? undefined : listener(change)));
  }

  /**
   * Waits until the clock shows a moment or a later one, regardless of how it moves, and resolves to the reading.
   *
   * A jump past the moment ends the wait, a rewind extends it, and a pause suspends it. The wait rejects with
   * `ClockUnavailableError` if the clock can no longer be read, so it cannot outlast an outage of the service.
   */
  until(when: When, options: WaitOptions = {}): Promise<Reading> {
    const target = Instant.of(when);
    const isDone = (reading: Reading): boolean => reading.now.micros >= target.micros;
    return this.#wait(options, `reach ${String(target)}`, isDone, (now) =>
      this.#follower.microsUntil(target.micros, now),
    );
  }

  /** Waits for a duration of virtual time, in milliseconds. */
  async sleep(ms: number, options: WaitOptions = {}): Promise<Reading> {
    return this.until(new Instant(this.now().micros + BigInt(Math.round(ms * 1_000))), options);
  }

  /** Waits until this clock shows a change, given the generation in the response to that change. */
  untilGeneration(generation: number, options: WaitOptions = {}): Promise<Reading> {
    const isDone = (reading: Reading): boolean => reading.generation >= generation;
    return this.#wait(options, `reach generation ${generation}`, isDone, () => null);
  }

  /** Ends the subscription. Pending waits reject with `ClockClosedError`. */
  close(): void {
    this.#follower.closed();
    this.#closing.abort();
    this.#notify(null);
  }

  /** Closes the clock at the end of a block that opened it with `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** Waits for a reading. `microsLeft` returns the host time until then, in microseconds; null if unknown. */
  async #wait(
    { signal, timeoutMs }: WaitOptions,
    what: string,
    isDone: (reading: Reading) => boolean,
    microsLeft: (now: bigint) => bigint | null,
  ): Promise<Reading> {
    const limit = host.deadlineAfter(timeoutMs);
    for (;;) {
      signal?.throwIfAborted();
      const reading = this.reading();
      if (isDone(reading)) return reading;
      const now = host.monotonicMicros();
      const micros = microsLeft(now);
      if (limit !== null && now >= limit) {
        throw new TimeoutError(`the clock shows ${String(reading.now)} and did not ${what} in time`);
      }
      const waits = [this.#follower.microsValid(now) + 1_000n];
      if (micros !== null) waits.push(micros);
      if (limit !== null) waits.push(limit - now);
      const shortest = waits.reduce((a, b) => (a < b ? a : b));
      await this.#next(Math.ceil(Number(shortest) / 1_000), signal);
    }
  }

  /** Waits for the next change, for at most `ms` milliseconds. */
  #next(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((done) => {
      const end = (): void => {
        this.#wakers.delete(end);
        signal?.removeEventListener('abort', end);
        host.stopTimer(timer);
        done();
      };
      const timer = host.startTimer(end, ms);
      this.#wakers.add(end);
      signal?.addEventListener('abort', end);
    });
  }

  #notify(change: ClockChange | null): void {
    if (change !== null) for (const listener of [...this.#listeners]) notifyListener(listener, change);
    for (const wake of [...this.#wakers]) wake();
  }

  /** Invalidates the state and reconnects, because the monotonic clock may have stopped during a system sleep. */
  #invalidate(): void {
    this.#wallAhead = host.wallAheadMs();
    this.#follower.invalidate();
    this.#connection?.abort();
  }

  async #run(): Promise<void> {
    const backoff = new Backoff();
    while (!this.#isEnded()) {
      const failure = await this.#listen().then(
        () => null,
        (error: unknown) => this.#asTimenavError(error),
      );
      if (isFinal(failure)) this.#follower.rejected(failure);
      // The stream was open, so this is the first loss: reset the backoff.
      if (this.#failure === null) backoff.reset();
      this.#failure = failure;
      this.#follower.connectionLost(host.monotonicMicros());
      this.#notify(null);
      if (this.#isEnded()) return;
      await host.pause(backoff.nextMs(failure), this.#closing.signal);
    }
  }

  #isEnded(): boolean {
    return this.#follower.end !== null;
  }

  #asTimenavError(error: unknown): Error {
    if (error instanceof TimenavError) return error;
    const isInvalidResponse = error instanceof RangeError || error instanceof SyntaxError;
    const what = isInvalidResponse
      ? 'the response is not from a timenav service'
      : `${this.#settings.baseUrl} cannot be reached`;
    return new ApiConnectionError(`${what}: ${reason(error)}`);
  }

  /** Reads one connection until it ends. */
  async #listen(): Promise<void> {
    const connection = new AbortController();
    this.#connection = connection;
    const signal = AbortSignal.any([connection.signal, this.#closing.signal]);
    this.#wallAhead = host.wallAheadMs();
    const headers: Record<string, string> = { Accept: 'text/event-stream' };
    const isFirst = this.#follower.state === null;
    this.#follower.requestSent(host.monotonicMicros());
    if (!isFirst) {
      const init = { headers: { Accept: 'application/json' }, signal: AbortSignal.any([signal, this.#limit()]) };
      const response = await this.#settings.send(`/v1/clock${query({ timeline_id: this.#timelineId })}`, init);
      if (!response.ok) throw await rejection(response);
      const body = await readJson<Body>(response);
      this.#notify(this.#follower.applyResponse(body, host.monotonicMicros()));
      Object.assign(headers, this.#lastEventId());
    }
    const params = query({ timeline_id: this.#timelineId, follow: this.#follow });
    const response = await this.#settings.send(`/v1/clock/stream${params}`, { headers, signal });
    if (!response.ok) throw await rejection(response);
    this.#follower.streamOpened(host.monotonicMicros());
    this.#failure = null;
    await this.#read(response, isFirst, connection);
  }

  /** Reads the messages of a stream until it ends or the service stops sending. */
  async #read(response: Response, isFirst: boolean, connection: AbortController): Promise<void> {
    const reader = response.body?.getReader();
    const events = new EventReader();
    let isNext = isFirst;
    while (reader !== undefined) {
      const silenceTimer = host.startTimer(() => connection.abort(), this.#follower.bounds.staleAfterMs);
      const { done, value } = await reader.read().finally(() => host.stopTimer(silenceTimer));
      if (done) return;
      this.#follower.messageReceived(host.monotonicMicros());
      for (const { event, data } of events.push(value)) {
        const body = JSON.parse(data) as Body;
        this.#notify(this.#follower.applyMessage(event, body, host.monotonicMicros(), isNext));
        isNext = false;
        this.#confirm(body);
      }
    }
  }

  /** Confirms a change that this clock shows, if it is a named follower. */
  #confirm({ follower_id, generation }: Body): void {
    if (typeof follower_id !== 'string') return;
    const timeline = this.#timelineId === null ? {} : { timeline_id: this.#timelineId };
    this.#confirmer.schedule({ follower_id, generation, ...timeline });
  }

  #lastEventId(): Record<string, string> {
    const { state } = this.#follower;
    return state === null ? {} : { 'Last-Event-ID': String(state.generation) };
  }

  #limit(): AbortSignal {
    return AbortSignal.timeout(this.#settings.timeoutMs);
  }
}

function query(parameters: Record<string, string | null>): string {
  const present = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== null);
  return present.length === 0 ? '' : `?${new URLSearchParams(present).toString()}`;
}

function notifyListener(listener: ChangeListener, change: ClockChange): void {
  try {
    const returned = listener(change);
    if (returned instanceof Promise) returned.catch(reportFailure);
  } catch (error) {
    // An error in one listener must not affect the clock or other listeners.
    reportFailure(error);
  }
}

function reportFailure(error: unknown): void {
  console.error('a listener of the clock failed', error);
}
