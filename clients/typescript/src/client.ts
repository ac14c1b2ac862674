import { Calls } from './calls.js';
import { FiringsFailedError, TimeoutError } from './errors.js';
import { BOUNDS, type Bounds } from './follower.js';
import * as host from './host-time.js';
import { Instant, type When } from './instant.js';
import { Listener, type Handler, type ListenOptions } from './listener.js';
import { receiptOf, receiptOfNothing, type Receipt } from './receipt.js';
import type { Retries } from './retry.js';
import { Settings, type ClientOptions } from './settings.js';
import type { Answer, Input, PagedOperation } from './shapes.js';
import type { CallOptions } from './transport.js';
import { VirtualClock } from './virtual-clock.js';
import { Watch, type WatchOptions } from './watch.js';
import { firingUpdate, dueRange, type FiringUpdate, type Gap, type DueRange } from './watched.js';

/** How a clock is opened. */
export interface ClockOptions extends Partial<Bounds> {
  /**
   * The name to follow the clock under: each change is confirmed once reads show it and the listeners have been called.
   * A clock change with `followers` waits for that.
   */
  follow?: string;
  /** How long to wait for the service to tell the clock. Defaults to 10 seconds. */
  timeoutMs?: number;
}

/** How far a clock is moved, and how long its way is waited for. */
export interface AdvanceOptions {
  /** The timeline. Defaults to that of the client. */
  timelineId?: string;
  /** Only if the clock still has this generation. */
  ifMatch?: number | string;
  signal?: AbortSignal;
  /** How much host time it may take. The advance goes on after that. */
  timeoutMs?: number;
  /** Whether to reject with `FiringsFailedError` if firings failed. Defaults to true. */
  check?: boolean;
}

const ANSWER_MS = 30_000;
/** An advance goes on without us: its receipt can still be had once the service is back. */
const ATTEMPTS = 64;
const WAIT_SECONDS_MIN = 30;

/**
 * A service, and who asks it.
 *
 * Without options the service is that of `TIMENAV_URL`, the key that of `TIMENAV_API_KEY`, and the timeline that of
 * `TIMENAV_TIMELINE`, or the one that the key is bound to.
 */
export class Client extends Calls {
  constructor(options: ClientOptions | Settings = {}) {
    super(options instanceof Settings ? options : new Settings(options));
  }

  /**
   * Subscribes to a timeline's clock, and resolves once it is known.
   *
   * The clock throws `ClockStaleError` rather than showing a time that the service has not confirmed for `staleAfter`
   * seconds, or for `lostAfter` seconds after the connection was lost.
   */
  virtualClock(timelineId?: string, options: ClockOptions = {}): Promise<VirtualClock> {
    const { timeoutMs = 10_000, follow = null, ...bounds } = options;
    return VirtualClock.open(
      this.settings,
      timelineId ?? this.settings.timelineId,
      { ...BOUNDS, ...bounds },
      timeoutMs,
      follow,
    );
  }

  /**
   * Hands each firing of a queue to a handler, up to `concurrency` side by side, until the listener is closed.
   *
   * A firing is acknowledged when the handler is done, failed when it throws, and then handed out again. It is kept for as
   * long as the handler takes. When this resolves, the queue is heard: an advance waits for its handlers.
   */
  on(queue: string, handler: Handler, options: ListenOptions = {}): Promise<Listener> {
    const once = { ...this.settings.retries, attempts: 1 };
    const asks = { client: this, claims: this.#withOptions(once), answerMsMax: this.settings.timeoutMs };
    return Listener.start(queue, asks, handler, options);
  }

  /**
   * Watches what happens to the firings of a queue, and claims none; with `null`, to all firings of the timeline.
   *
   * When this resolves, everything that happens from now on is told, across lost connections. After one, a `Gap` says
   * where claims, extensions and failed attempts may be missing.
   */
  watchFirings(queue: string | null = null, options: WatchOptions = {}): Promise<Watch<FiringUpdate | Gap>> {
    const input = { ...timelineOf(options), ...(queue === null ? {} : { queue }) };
    const again = this.#withOptions({ ...this.settings.retries, attempts: 1 });
    const stream = {
      first: (how: CallOptions) => this.firingsStream(input, how),
      again: (how: CallOptions) => again.firingsStream(input, how),
      read: firingUpdate,
    };
    return Watch.open(stream, options);
  }

  /**
   * Watches which events the clock passes, as stretches of virtual time, to play them back.
   *
   * When this resolves, everything that the clock passes from now on is told, across lost connections. A stretch that
   * begins before the last one ended says that the clock went back.
   */
  watchDue(options: WatchOptions = {}): Promise<Watch<DueRange | Gap>> {
    const input = { ...timelineOf(options), topics: 'due' };
    const again = this.#withOptions({ ...this.settings.retries, attempts: 1 });
    const stream = {
      first: (how: CallOptions) => this.stream(input, how),
      again: (how: CallOptions) => again.stream(input, how),
      read: dueRange,
    };
    return Watch.open(stream, options);
  }

  /**
   * Moves the clock forward, such as by `P1M`, or `to` a moment, and resolves to the receipt once all firings on the way
   * are done.
   *
   * If the connection is lost meanwhile, the same advance is requested again. It rejects with `NotSettledError` if the advance
   * was stopped or is stuck, and with `FiringsFailedError` if a firing failed, unless `check` is false.
   */
  async advance(by: string | { to: When }, options: AdvanceOptions = {}): Promise<Receipt> {
    const { attempts, waitSecondsMax } = this.settings.retries;
    const patient = {
      attempts: Math.max(attempts, ATTEMPTS),
      waitSecondsMax: Math.max(waitSecondsMax, WAIT_SECONDS_MIN),
    };
    const client = this.#withOptions(patient);
    const limit =
      options.timeoutMs === undefined ? null : host.monotonicMicros() + BigInt(Math.round(options.timeoutMs * 1_000));
    const answer: CallOptions = options.signal === undefined ? {} : { signal: options.signal };
    const timeline = options.timelineId === undefined ? {} : { timeline_id: options.timelineId };
    const waitParams = (): { wait: string; timeline_id?: string } => ({ ...timeline, wait: this.#wait(limit) });
    const change: CallOptions = options.ifMatch === undefined ? answer : { ...answer, ifMatch: options.ifMatch };
    const changed = await (typeof by === 'string'
      ? client.fastForward({ duration: by, ...waitParams() }, change)
      : client.travel({ destination_time: String(Instant.of(by.to)), ...waitParams() }, change));
    if (!changed.receipt) return receiptOfNothing(changed);
    let receipt = receiptOf(changed.receipt);
    while (receipt.state === 'running') {
      if (limit !== null && host.monotonicMicros() >= limit) {
        const progress = `the advance ${changed.receipt.advance_id} has come to ${String(receipt.reached)}`;
        throw new TimeoutError(
          `${progress}, and goes on to ${String(receipt.to)}; ask for its receipt, or pause the clock`,
        );
      }
      const { receipt: settled } = await client.receipt(
        { advance_id: changed.receipt.advance_id, ...waitParams() },
        answer,
      );
      receipt = receiptOf(settled);
    }
    if (receipt.failed > 0 && options.check !== false) throw new FiringsFailedError(receipt);
    return receipt;
  }

  /** Iterates over the pages of a list, such as `pages('monitor_events', {…})`, and requests each one when it is needed. */
  async *pages<Name extends PagedOperation>(
    operation: Name,
    input: Input<Name>,
    options: CallOptions = {},
  ): AsyncGenerator<Answer<Name>, void> {
    let cursor: string | null | undefined;
    do {
      const page = await this.json(operation, cursor ? { ...input, cursor } : input, options);
      yield page;
      cursor = (page as { next_cursor?: string | null }).next_cursor;
    } while (cursor);
  }

  /** Returns this client for the handler of a firing: the service is told where its requests come from. */
  inside(firing: string): Client {
    return Object.assign(this.#withOptions(this.settings.retries), { firing });
  }

  #wait(limit: bigint | null): string {
    // The answer comes before it counts as lost.
    const most = Math.min(ANSWER_MS, this.settings.timeoutMs / 2);
    const left = limit === null ? most : Math.min(most, Number(limit - host.monotonicMicros()) / 1_000);
    return `${Math.max(Math.floor(left), 0) / 1_000}s`;
  }

  /** Returns the same client with other retries. */
  #withOptions(retries: Retries): Client {
    return Object.assign(new Client(this.settings.with(retries)), { firing: this.firing });
  }
}

function timelineOf({ timelineId }: WatchOptions): { timeline_id?: string } {
  return timelineId === undefined ? {} : { timeline_id: timelineId };
}
