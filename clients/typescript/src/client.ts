import { Calls } from './calls.js';
import { FiringsFailedError, TimeoutError } from './errors.js';
import { STALENESS_BOUNDS_DEFAULT, type StalenessBounds } from './follower.js';
import * as host from './host-time.js';
import { Instant, type When } from './instant.js';
import { Listener, type Handler, type ListenOptions } from './listener.js';
import { receiptOf, receiptWithoutTimers, type Receipt } from './receipt.js';
import { RETRY_POLICY_DEFAULT, type RetryPolicy } from './retry.js';
import { Settings, type ClientOptions } from './settings.js';
import type { Output, Input, PagedOperation } from './operation-types.js';
import type { CallOptions } from './transport.js';
import { VirtualClock } from './virtual-clock.js';
import { Watch, type WatchOptions } from './watch.js';
import { firingUpdate, dueRange, type FiringUpdate, type Gap, type DueRange } from './watch-messages.js';

/** Options of a virtual clock. */
export interface ClockOptions extends Partial<StalenessBounds> {
  /**
   * The follower name. The clock confirms each change once reads show it and the listeners have been called. A clock
   * change with `followers` waits for that confirmation.
   */
  follow?: string;
  /** The maximum wait for the initial state of the clock, in milliseconds of host time. Defaults to 10 seconds. */
  timeoutMs?: number;
}

/** Options of an advance. */
export interface AdvanceOptions {
  /** The timeline. Defaults to the client's timeline. */
  timelineId?: string;
  /** Moves the clock only if it has this generation. */
  ifMatch?: number | string;
  signal?: AbortSignal;
  /** The limit of the wait, in milliseconds of host time. The advance continues after it. */
  timeoutMs?: number;
  /** Resolves to the receipt even if firings failed, instead of rejecting with `FiringsFailedError`. */
  allowFailedFirings?: boolean;
}

const RESPONSE_MS = 30_000;
/** An advance continues during an outage, so retry until its receipt can be requested. */
const ATTEMPTS = 64;

/**
 * A client of a timenav service.
 *
 * By default, the address is `TIMENAV_URL` or `http://127.0.0.1:8080`, the API key is `TIMENAV_API_KEY`, and the
 * timeline is `TIMENAV_TIMELINE` or the one that the key is bound to.
 */
export class Client extends Calls {
  constructor(options: ClientOptions | Settings = {}) {
    super(options instanceof Settings ? options : new Settings(options));
  }

  /**
   * Subscribes to a timeline's clock, and resolves when the initial state has arrived.
   *
   * A read throws `ClockStaleError` if the last message of the service is older than `staleAfterMs`, or if the
   * connection was lost more than `lostAfterMs` ago.
   */
  virtualClock(timelineId?: string, options: ClockOptions = {}): Promise<VirtualClock> {
    const { timeoutMs = 10_000, follow = null, ...bounds } = options;
    return VirtualClock.open(
      this.settings,
      timelineId ?? this.settings.timelineId,
      { ...STALENESS_BOUNDS_DEFAULT, ...bounds },
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
    const clients = { client: this, claims: this.#withoutRetries(), responseMsMax: this.settings.timeoutMs };
    return Listener.start(queue, clients, handler, options);
  }

  /**
   * Reports changes of the firings of a queue, or of all queues if it is null, without claiming any.
   *
   * All changes after this resolves are reported, even if the connection is lost. After a lost connection, a `Gap`
   * marks where claims, extensions and failed attempts may be missing.
   */
  watchFirings(queue: string | null = null, options: WatchOptions = {}): Promise<Watch<FiringUpdate | Gap>> {
    const input = { ...timelineOf(options), ...(queue === null ? {} : { queue }) };
    const withoutRetries = this.#withoutRetries();
    const stream = {
      open: (options: CallOptions) => this.firingsStream(input, options),
      reopen: (options: CallOptions) => withoutRetries.firingsStream(input, options),
      parse: firingUpdate,
    };
    return Watch.open(stream, options);
  }

  /**
   * Reports the events that the clock passes, as ranges of virtual time.
   *
   * All events that the clock passes after this resolves are reported, even if the connection is lost. A range that
   * begins before the end of the previous one means that the clock went back.
   */
  watchDue(options: WatchOptions = {}): Promise<Watch<DueRange | Gap>> {
    const input = { ...timelineOf(options), topics: 'due' };
    const withoutRetries = this.#withoutRetries();
    const stream = {
      open: (options: CallOptions) => this.stream(input, options),
      reopen: (options: CallOptions) => withoutRetries.stream(input, options),
      parse: dueRange,
    };
    return Watch.open(stream, options);
  }

  /**
   * Moves the clock forward by a duration such as `P1M`, or `to` a moment, and resolves to the receipt once all firings
   * on the way are done.
   *
   * If the connection is lost, the client resumes waiting for the same advance. It rejects with `NotSettledError` if
   * the advance was stopped or is stuck, and with `FiringsFailedError` if a firing failed, unless `allowFailedFirings`
   * is set.
   */
  async advance(by: string | { to: When }, options: AdvanceOptions = {}): Promise<Receipt> {
    const { attempts, waitMsMax } = this.settings.retries;
    const client = this.#withRetries({
      attempts: Math.max(attempts, ATTEMPTS),
      waitMsMax: Math.max(waitMsMax, RETRY_POLICY_DEFAULT.waitMsMax),
    });
    const limit = host.deadlineAfter(options.timeoutMs);
    const callOptions: CallOptions = options.signal === undefined ? {} : { signal: options.signal };
    const timeline = options.timelineId === undefined ? {} : { timeline_id: options.timelineId };
    const waitParams = (): { wait: string; timeline_id?: string } => ({ ...timeline, wait: this.#wait(limit) });
    const change: CallOptions =
      options.ifMatch === undefined ? callOptions : { ...callOptions, ifMatch: options.ifMatch };
    const changed = await (typeof by === 'string'
      ? client.fastForward({ duration: by, ...waitParams() }, change)
      : client.travel({ destination_time: String(Instant.of(by.to)), ...waitParams() }, change));
    if (!changed.receipt) return receiptWithoutTimers(changed);
    let receipt = receiptOf(changed.receipt);
    while (receipt.state === 'running') {
      if (limit !== null && host.monotonicMicros() >= limit) {
        const progress = `the advance ${changed.receipt.advance_id} has only reached ${String(receipt.reached)}`;
        throw new TimeoutError(
          `${progress} and continues to ${String(receipt.to)}; request its receipt, or pause the clock`,
        );
      }
      const { receipt: settled } = await client.receipt(
        { advance_id: changed.receipt.advance_id, ...waitParams() },
        callOptions,
      );
      receipt = receiptOf(settled);
    }
    if (receipt.failed > 0 && options.allowFailedFirings !== true) throw new FiringsFailedError(receipt);
    return receipt;
  }

  /** Iterates over the pages of a list, such as `pages('monitor_events', {…})`. Each page is requested on demand. */
  async *pages<Name extends PagedOperation>(
    operation: Name,
    input: Input<Name>,
    options: CallOptions = {},
  ): AsyncGenerator<Output<Name>, void> {
    let cursor: string | null | undefined;
    do {
      const page = await this.json(operation, cursor ? { ...input, cursor } : input, options);
      yield page;
      cursor = (page as { next_cursor?: string | null }).next_cursor;
    } while (cursor);
  }

  /** Returns a client for the handler of a firing. Its requests carry the id of that firing. */
  forFiring(firingId: string): Client {
    return Object.assign(this.#withRetries(this.settings.retries), { firing: firingId });
  }

  #wait(limit: bigint | null): string {
    // Less than the response timeout, so that the service responds before it.
    const waitMsMax = Math.min(RESPONSE_MS, this.settings.timeoutMs / 2);
    const remaining = limit === null ? waitMsMax : Math.min(waitMsMax, Number(limit - host.monotonicMicros()) / 1_000);
    return `${Math.max(Math.floor(remaining), 0) / 1_000}s`;
  }

  /** Returns a copy of this client that sends each request once. */
  #withoutRetries(): Client {
    return this.#withRetries({ ...this.settings.retries, attempts: 1 });
  }

  /** Returns a copy of this client with another retry policy. */
  #withRetries(retries: RetryPolicy): Client {
    return Object.assign(new Client(this.settings.with(retries)), { firing: this.firing });
  }
}

function timelineOf({ timelineId }: WatchOptions): { timeline_id?: string } {
  return timelineId === undefined ? {} : { timeline_id: timelineId };
}
