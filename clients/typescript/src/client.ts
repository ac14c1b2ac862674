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

/** Options of a virtual clock. */
export interface ClockOptions extends Partial<Bounds> {
  /**
   * The follower name. The clock confirms each change once reads show it and the listeners have been called. A clock
   * change with `followers` waits for that confirmation.
   */
  follow?: string;
  /** How long to wait for the initial state of the clock, in milliseconds of host time. Defaults to 10 seconds. */
  timeoutMs?: number;
}

/** Options of an advance. */
export interface AdvanceOptions {
  /** The timeline. Defaults to the client's timeline. */
  timelineId?: string;
  /** Moves the clock only if it still has this generation. */
  ifMatch?: number | string;
  signal?: AbortSignal;
  /** The limit of the wait, in milliseconds of host time. The advance continues after it. */
  timeoutMs?: number;
  /** Whether to reject with `FiringsFailedError` if firings failed. Defaults to true. */
  check?: boolean;
}

const ANSWER_MS = 30_000;
/** An advance continues while the connection is down, so retry long enough to fetch its receipt after an outage. */
const ATTEMPTS = 64;
const WAIT_SECONDS_MIN = 30;

/**
 * A client of a timenav service.
 *
 * By default, the address is `TIMENAV_URL`, the API key is `TIMENAV_API_KEY`, and the timeline is `TIMENAV_TIMELINE` or
 * the one that the key is bound to.
 */
export class Client extends Calls {
  constructor(options: ClientOptions | Settings = {}) {
    super(options instanceof Settings ? options : new Settings(options));
  }

  /**
   * Subscribes to a timeline's clock, and resolves once the initial state has arrived.
   *
   * A read throws `ClockStaleError` if the service has not confirmed the time for `staleAfter` seconds, or for
   * `lostAfter` seconds after the connection was lost.
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
   * Claims firings of a queue and passes each one to a handler, with up to `concurrency` handlers in parallel, until
   * the listener is closed.
   *
   * A firing is acknowledged when its handler finishes. If the handler throws, the firing fails and is retried. The
   * lease is extended while the handler runs. When this resolves, the queue has an active listener, and an advance
   * waits for its handlers.
   */
  on(queue: string, handler: Handler, options: ListenOptions = {}): Promise<Listener> {
    const once = { ...this.settings.retries, attempts: 1 };
    const asks = { client: this, claims: this.#withOptions(once), answerMsMax: this.settings.timeoutMs };
    return Listener.start(queue, asks, handler, options);
  }

  /**
   * Reports changes of the firings of a queue without claiming any. A queue of `null` covers all firings of the
   * timeline.
   *
   * When this resolves, all later changes are reported, across lost connections. After a lost connection, a `Gap` marks
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
   * Reports the events that the clock passes, as ranges of virtual time.
   *
   * When this resolves, all events that the clock passes from then on are reported, across lost connections. A range
   * that begins before the end of the previous one means that the clock went back.
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
   * Moves the clock forward by a duration such as `P1M`, or `to` a moment, and resolves to the receipt once all firings
   * on the way are done.
   *
   * If the connection is lost, the client waits for the same advance again. It rejects with `NotSettledError` if the
   * advance was stopped or is stuck, and with `FiringsFailedError` if a firing failed, unless `check` is false.
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
        const progress = `the advance ${changed.receipt.advance_id} has reached ${String(receipt.reached)}`;
        throw new TimeoutError(
          `${progress}, and continues to ${String(receipt.to)}; request its receipt, or pause the clock`,
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

  /** Iterates over the pages of a list, such as `pages('monitor_events', {…})`. Each page is requested on demand. */
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

  /** Returns a client for the handler of a firing. Its requests carry the id of that firing. */
  inside(firing: string): Client {
    return Object.assign(this.#withOptions(this.settings.retries), { firing });
  }

  #wait(limit: bigint | null): string {
    // Stay below the timeout of the request, so that the response arrives before it.
    const most = Math.min(ANSWER_MS, this.settings.timeoutMs / 2);
    const left = limit === null ? most : Math.min(most, Number(limit - host.monotonicMicros()) / 1_000);
    return `${Math.max(Math.floor(left), 0) / 1_000}s`;
  }

  /** Returns a copy of this client with another retry policy. */
  #withOptions(retries: Retries): Client {
    return Object.assign(new Client(this.settings.with(retries)), { firing: this.firing });
  }
}

function timelineOf({ timelineId }: WatchOptions): { timeline_id?: string } {
  return timelineId === undefined ? {} : { timeline_id: timelineId };
}
