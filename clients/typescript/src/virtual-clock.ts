/// <reference lib="esnext.disposable" preserve="true" />
/** The clock of a timeline. */
import { ClockUnavailableError, ApiError, TimenavError, TimeoutError, ApiConnectionError } from './errors.js';
import { Follower, type Bounds, type ClockChange, type Reading } from './follower.js';
import * as host from './host-time.js';
import { Instant, type When } from './instant.js';
import { jittered } from './retry.js';
import type { ClockState } from './clock-state.js';
import { Confirming } from './confirming.js';
import type { Settings } from './settings.js';
import type { Schema } from './shapes.js';
import { EventReader } from './sse.js';
import { readJson, reason, refusal } from './transport.js';

type Listener = (change: ClockChange) => unknown;
type Body = Schema<'ClockBody'>;

/** How long to wait. */
export interface WaitOptions {
  signal?: AbortSignal;
  /** How much host time it may take. */
  timeoutMs?: number;
}

const DELAY_FIRST = 0.1;
const DELAY_MAX = 5;
/** These will be answered the same next time. Everything else may be different then. */
export const FINAL: ReadonlySet<number> = new Set([400, 401, 403, 404, 409, 410]);
/** How far wall clock and monotonic clock may go apart before somebody must have slept, or set one of them. */
const APART_MS_MAX = 1_000;

/** The clock of a timeline: subscribed to once, then read without a request. */
export class VirtualClock {
  readonly #settings: Settings;
  readonly #timelineId: string | null;
  readonly #follow: string | null;
  readonly #confirming: Confirming;
  readonly #follower: Follower;
  readonly #listeners = new Set<Listener>();
  readonly #wakers = new Set<() => void>();
  readonly #closing = new AbortController();
  #connection: AbortController | null = null;
  #failure: Error | null = null;
  #wallAhead = host.wallAheadMs();

  private constructor(settings: Settings, timelineId: string | null, bounds: Bounds, follow: string | null) {
    this.#settings = settings;
    this.#timelineId = timelineId;
    this.#follow = follow;
    this.#confirming = new Confirming(settings, (status) => FINAL.has(status), this.#closing.signal);
    this.#follower = new Follower(bounds);
  }

  /** Subscribes, and resolves once the clock is known; `Client.virtualClock` calls it. */
  static async open(
    settings: Settings,
    timelineId: string | null,
    bounds: Bounds,
    timeoutMs: number,
    follow: string | null = null,
  ): Promise<VirtualClock> {
    const clock = new VirtualClock(settings, timelineId, bounds, follow);
    void clock.#run();
    const limit = host.monotonicMicros() + BigInt(Math.round(timeoutMs * 1_000));
    while (clock.#follower.state === null && clock.#follower.end === null) {
      const left = limit - host.monotonicMicros();
      if (left <= 0n) break;
      await clock.#next(Number(left) / 1_000);
    }
    if (clock.#follower.state !== null) return clock;
    const failure = clock.#failure ?? new ClockUnavailableError('the service did not tell the clock in time');
    clock.close();
    throw failure;
  }

  /**
   * Returns what the clock shows, with the state that it was computed from. Throws `ClockUnavailableError` where nobody can
   * vouch for it: `ClockStaleError`, `ClockAccessError` or `ClockClosedError`.
   */
  reading(): Reading {
    if (Math.abs(host.wallAheadMs() - this.#wallAhead) > APART_MS_MAX) this.#doubt();
    return this.#follower.read(host.monotonicMicros());
  }

  /** Returns what the clock shows, to the microsecond, anywhere from −9999 to 9999. */
  now(): Instant {
    return this.reading().now;
  }

  /** Returns what the clock shows as a `Date`. */
  date(): Date {
    return this.now().toDate();
  }

  /** Returns what the clock shows in whole milliseconds since 1970, as `Date.now()` does. */
  millis(): number {
    return this.now().toMillis();
  }

  /** The clock as it was last told, if it may be vouched for. */
  get state(): ClockState {
    return this.reading().state;
  }

  get timelineId(): string {
    return this.state.timelineId;
  }

  /** Counts changes of the clock. */
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

  /** Whether the stream is open and has told everything that the service knows. */
  get isConnected(): boolean {
    return this.#follower.end === null && this.#follower.isConnected;
  }

  /** Shows the timeline and the time, for logs. */
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

  /** Calls a function after each change of the clock, in order. Returns what ends that. */
  onChange(listener: Listener): () => void {
    // One of its own, so that a function that is given twice is called twice.
    const registered: Listener = (change) => listener(change);
    this.#listeners.add(registered);
    return () => void this.#listeners.delete(registered);
  }

  /** Calls a function after each change that made the clock jump, as travels do. Returns what ends that. */
  onJump(listener: Listener): () => void {
    return this.onChange((change) => (change.jumpMicros === 0n ? undefined : listener(change)));
  }

  /**
   * Waits until the clock shows a moment or a later one, however it moves meanwhile, and resolves to the reading.
   *
   * A jump forward ends the wait, a rewind makes it longer, and while the clock is paused it lasts. It rejects where the
   * clock can no longer be vouched for: nobody waits forever for a service that is gone.
   */
  until(when: When, options: WaitOptions = {}): Promise<Reading> {
    const target = Instant.of(when);
    const isDone = (reading: Reading): boolean => reading.now.micros >= target.micros;
    return this.#wait(options, `come to ${String(target)}`, isDone, (now) =>
      this.#follower.microsUntil(target.micros, now),
    );
  }

  /** Waits until the clock shows a moment that is so many virtual milliseconds from now. */
  async sleep(ms: number, options: WaitOptions = {}): Promise<Reading> {
    return this.until(new Instant(this.now().micros + BigInt(Math.round(ms * 1_000))), options);
  }

  /** Waits until this clock knows of a change, by the generation that the change was answered with. */
  untilGeneration(generation: number, options: WaitOptions = {}): Promise<Reading> {
    const isDone = (reading: Reading): boolean => reading.generation >= generation;
    return this.#wait(options, `come to generation ${generation}`, isDone, () => null);
  }

  /** Ends the subscription. Whoever waits gets `ClockClosedError`. */
  close(): void {
    this.#follower.closed();
    this.#closing.abort();
    this.#notify(null);
  }

  /** Closes the clock at the end of a block that opened it with `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  /** Waits for a reading. `left` tells in how many microseconds it may come; null if nobody knows. */
  async #wait(
    { signal, timeoutMs }: WaitOptions,
    what: string,
    isDone: (reading: Reading) => boolean,
    left: (now: bigint) => bigint | null,
  ): Promise<Reading> {
    const limit = timeoutMs === undefined ? null : host.monotonicMicros() + BigInt(Math.round(timeoutMs * 1_000));
    for (;;) {
      signal?.throwIfAborted();
      const reading = this.reading();
      if (isDone(reading)) return reading;
      const now = host.monotonicMicros();
      const micros = left(now);
      if (limit !== null && now >= limit) {
        throw new TimeoutError(`the clock shows ${String(reading.now)}, and has not ${what} in time`);
      }
      const waits = [this.#follower.microsVouched(now) + 1_000n];
      if (micros !== null) waits.push(micros);
      if (limit !== null) waits.push(limit - now);
      const shortest = waits.reduce((a, b) => (a < b ? a : b));
      await this.#next(Math.ceil(Number(shortest) / 1_000), signal);
    }
  }

  /** Waits for the next change, but not longer. */
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

  /** Monotonic time may have stood still: what is known is asked for anew. */
  #doubt(): void {
    this.#wallAhead = host.wallAheadMs();
    this.#follower.invalidate();
    this.#connection?.abort();
  }

  async #run(): Promise<void> {
    let delay = DELAY_FIRST;
    while (!this.#isEnded()) {
      const failure = await this.#listen().then(
        () => null,
        (error: unknown) => this.#named(error),
      );
      if (failure instanceof ApiError && FINAL.has(failure.httpStatus)) this.#follower.rejected(failure);
      // It was open: whoever loses a connection now and then need not wait long for the next.
      if (this.#failure === null) delay = DELAY_FIRST;
      this.#failure = failure;
      this.#follower.connectionLost(host.monotonicMicros());
      this.#notify(null);
      if (this.#isEnded()) return;
      const after = failure instanceof ApiError ? failure.retryAfterSeconds : null;
      await host.pause((after ?? jittered(delay)) * 1_000, this.#closing.signal);
      delay = Math.min(delay * 2, DELAY_MAX);
    }
  }

  #isEnded(): boolean {
    return this.#follower.end !== null;
  }

  #named(error: unknown): Error {
    if (error instanceof TimenavError) return error;
    const isOurs = error instanceof RangeError || error instanceof SyntaxError;
    const what = isOurs ? 'what answers is no timenav service' : `${this.#settings.baseUrl} cannot be reached`;
    return new ApiConnectionError(`${what}: ${reason(error)}`);
  }

  /** Follows one connection until it ends. */
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
      if (!response.ok) throw await refusal(response);
      const body = await readJson<Body>(response);
      this.#notify(this.#follower.applyResponse(body, host.monotonicMicros()));
      Object.assign(headers, this.#lastEventId());
    }
    const params = query({ timeline_id: this.#timelineId, follow: this.#follow });
    const response = await this.#settings.send(`/v1/clock/stream${params}`, { headers, signal });
    if (!response.ok) throw await refusal(response);
    this.#follower.streamOpened(host.monotonicMicros());
    this.#failure = null;
    await this.#read(response, isFirst, connection);
  }

  /** Reads the messages of a stream until it ends, or is silent for too long. */
  async #read(response: Response, isFirst: boolean, connection: AbortController): Promise<void> {
    const reader = response.body?.getReader();
    const events = new EventReader();
    let isNext = isFirst;
    while (reader !== undefined) {
      const silence = host.startTimer(() => connection.abort(), this.#follower.bounds.staleAfter * 1_000);
      const { done, value } = await reader.read().finally(() => host.stopTimer(silence));
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

  /** Has a change confirmed that is shown here, where the stream has a name. */
  #confirm({ follower_id, generation }: Body): void {
    if (typeof follower_id !== 'string') return;
    const where = this.#timelineId === null ? {} : { timeline_id: this.#timelineId };
    this.#confirming.applied({ follower_id, generation, ...where });
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
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== null);
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
}

function notifyListener(listener: Listener, change: ClockChange): void {
  try {
    const returned = listener(change);
    if (returned instanceof Promise) returned.catch(reportFailure);
  } catch (error) {
    // The clock goes on: one listener's mistake must not stop the time of all others.
    reportFailure(error);
  }
}

function reportFailure(error: unknown): void {
  console.error('a listener of the clock failed', error);
}
