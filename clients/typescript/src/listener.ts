/// <reference lib="esnext.disposable" preserve="true" />
/** Listeners, which claim firings of a queue and pass them to a handler. */
import type { Client } from './client.js';
import { ApiError } from './errors.js';
import { firingOf, type Firing } from './firing.js';
import * as host from './host-time.js';
import { Backoff, isFinal } from './retry.js';
import type { Schema } from './operation-types.js';

/** Handles a firing. The firing is acknowledged when the function returns, or when its promise is fulfilled. */
export type Handler = (firing: Firing<Client>) => unknown;

/** Options of a listener. */
export interface ListenOptions {
  /** The timeline. Defaults to the client's timeline. */
  timelineId?: string;
  /** The maximum number of handlers that run in parallel, 1 to 1000. Defaults to 1. */
  concurrency?: number;
  /**
   * The duration of a lease, 1000 to 600000 milliseconds of host time. If this program crashes, other workers get
   * its firings after it. Defaults to 30 seconds.
   */
  ackTimeoutMs?: number;
}

/** The clients of a listener. */
interface ListenerClients {
  client: Client;
  /**
   * A client without retries. The listener itself waits between claims, so that closing it interrupts the wait.
   */
  claims: Client;
  responseMsMax: number;
}

const CLAIM_MS = 20_000;
const REASON_BYTES_MAX = 1_024;
/** The maximum number of firings in a request. */
const FIRINGS_MAX = 1_000;
/**
 * The service considers a listener active for ten seconds after a claim. If a handler finishes this long after the last
 * claim, another claim is sent before the acknowledgment. Otherwise an advance could leave the instant before the
 * remaining firings are handled.
 */
const IDLE_CLAIM_MICROS = 5_000_000n;

/** Claims firings of a queue and passes them to a handler, until it is closed. */
export class Listener {
  readonly #client: Client;
  readonly #claims: Client;
  readonly #responseMsMax: number;
  readonly #handler: Handler;
  readonly #concurrency: number;
  readonly #ackTimeout: string;
  readonly #timeline: { timeline_id?: string };
  /** Running handlers. */
  readonly #running = new Set<Promise<void>>();
  /** Leased firings, including those whose outcome is being reported while the next handler runs. */
  readonly #leased = new Map<Firing<Client>, Promise<void>>();
  readonly #closing = new AbortController();
  readonly #extender: host.Timer;
  #claimedAt: bigint | null = null;
  #failure: Error | null = null;
  #ended: Promise<void> = Promise.resolve();
  #isEnded = false;

  private constructor(
    readonly queue: string,
    { client, claims, responseMsMax }: ListenerClients,
    handler: Handler,
    { timelineId, concurrency = 1, ackTimeoutMs = 30_000 }: ListenOptions,
  ) {
    if (!(ackTimeoutMs >= 1_000 && ackTimeoutMs <= 600_000)) {
      throw new RangeError(`ackTimeoutMs must be 1000 to 600000, not ${ackTimeoutMs}`);
    }
    if (!(Number.isInteger(concurrency) && concurrency >= 1 && concurrency <= 1_000)) {
      throw new RangeError(`concurrency must be 1 to 1000, not ${concurrency}`);
    }
    this.#client = client;
    this.#claims = claims;
    this.#responseMsMax = responseMsMax;
    this.#handler = handler;
    this.#concurrency = concurrency;
    this.#ackTimeout = `${ackTimeoutMs / 1_000}s`;
    this.#timeline = timelineId === undefined ? {} : { timeline_id: timelineId };
    // A lease survives one failed extension.
    this.#extender = host.startInterval(() => void this.#extendLeases(), ackTimeoutMs / 3);
  }

  /**
   * Sends the first claim. When this resolves, the queue has an active listener, and later advances wait for it.
   * `Client.on` calls it.
   */
  static async start(
    queue: string,
    clients: ListenerClients,
    handler: Handler,
    options: ListenOptions,
  ): Promise<Listener> {
    const listener = new Listener(queue, clients, handler, options);
    try {
      await listener.#claimAtOnce(listener.#concurrency);
    } catch (error) {
      host.stopInterval(listener.#extender);
      throw error;
    }
    listener.#ended = listener.#run();
    return listener;
  }

  /** Whether the listener is still claiming firings. */
  get isRunning(): boolean {
    return !this.#isEnded && this.#isOpen();
  }

  /** Resolves when the listener has ended. Rejects with the service's error if it may no longer claim. */
  async join(): Promise<void> {
    await this.#ended;
    if (this.#failure !== null) throw this.#failure;
  }

  /**
   * Stops claiming, and resolves when all handlers are done and their outcomes are reported. A handler may call it, but
   * must not await it: it would wait for itself.
   */
  async close(): Promise<void> {
    // Aborting the claim closes its connection, and the service delivers its firings to other workers.
    this.#closing.abort();
    await this.#ended;
  }

  /** Closes the listener at the end of a block that started it with `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    const backoff = new Backoff();
    while (this.#isOpen() && this.#failure === null) {
      const free = this.#free();
      if (free === 0) {
        await Promise.race([...this.#running, ...this.#leased.values()]);
        continue;
      }
      try {
        this.#claimedAt = null;
        this.#take(await this.#claim(this.#claims, free, CLAIM_MS, signal));
        backoff.reset();
      } catch (error) {
        if (!this.#isOpen()) break;
        if (isFinal(error)) {
          this.#failure = error;
          console.warn(`claiming from the queue ${this.queue} is no longer possible: ${String(error)}`);
          break;
        }
        console.warn(`claiming from the queue ${this.queue} failed; will retry: ${String(error)}`);
        await host.pause(backoff.nextMs(error), signal);
      }
    }
    await Promise.all(this.#leased.values());
    host.stopInterval(this.#extender);
    this.#isEnded = true;
  }

  /**
   * Returns how many more handlers may start. If more outcomes than `concurrency` are unreported, claiming stops, so
   * that a fast handler does not accumulate firings when the service is slow.
   */
  #free(): number {
    const settling = this.#leased.size - this.#running.size;
    return settling <= this.#concurrency ? Math.max(0, this.#concurrency - this.#running.size) : 0;
  }

  #isOpen(): boolean {
    return !this.#closing.signal.aborted;
  }

  #claim(client: Client, max: number, waitMs: number, signal?: AbortSignal): Promise<Schema<'ClaimedBody'>> {
    // Less than the response timeout, so that the service responds before it.
    const wait = `${Math.floor(Math.min(waitMs, this.#responseMsMax / 2)) / 1_000}s`;
    const input = { queue: this.queue, max, wait, ack_timeout: this.#ackTimeout, ...this.#timeline };
    return client.claimFirings(input, signal === undefined ? {} : { signal });
  }

  async #claimAtOnce(max: number): Promise<void> {
    this.#take(await this.#claim(this.#client, max, 0));
  }

  /** Claims another firing if the last claim was some time ago, so that the queue keeps its active listener. */
  async #claimIfIdle(): Promise<void> {
    const at = this.#claimedAt;
    if (!this.#isOpen() || at === null || host.monotonicMicros() - at < IDLE_CLAIM_MICROS) return;
    await this.#claimAtOnce(1).catch((error: unknown) => {
      console.warn(`claiming from the queue ${this.queue} failed; will retry: ${String(error)}`);
    });
  }

  #take(claimed: Schema<'ClaimedBody'>): void {
    this.#claimedAt = host.monotonicMicros();
    for (const body of claimed.firings) {
      const firing = firingOf(body, this.#client.forFiring(body.firing_id));
      const handled = this.#handle(firing);
      const running = handled.then(() => void this.#running.delete(running));
      this.#running.add(running);
      const settled = handled
        .then((failed) => this.#settle(firing, failed))
        .finally(() => void this.#leased.delete(firing));
      this.#leased.set(firing, settled);
    }
  }

  /** Runs the handler, and returns its error if it failed. Never rejects. */
  async #handle(firing: Firing<Client>): Promise<Error | null> {
    try {
      await this.#handler(firing);
    } catch (error) {
      console.error(`the handler of the queue ${this.queue} failed at ${firing.timerId} (${firing.id})`, error);
      return error instanceof Error ? error : new Error(String(error));
    }
    await this.#claimIfIdle();
    return null;
  }

  /** Reports the outcome of a firing to the service. Never rejects. */
  async #settle(firing: Firing<Client>, failed: Error | null): Promise<void> {
    const parameters = this.#leaseParameters([firing]);
    try {
      if (failed === null) {
        await this.#client.acknowledgeFirings(parameters);
      } else {
        await this.#client.failFirings({ ...parameters, reason: reasonOf(failed) });
      }
    } catch (error) {
      const isLost = error instanceof ApiError && error.code === 'lease_lost';
      const message = isLost
        ? `the lease of ${firing.id} expired, and another worker has claimed the firing`
        : `the outcome of ${firing.id} could not be reported, so the service will deliver the firing again`;
      console.warn(`${message}: ${String(error)}`);
    }
  }

  /** Returns the ids of firings and their leases as request parameters. */
  #leaseParameters(firings: Firing<Client>[]): { firing_ids: string[]; lease_ids?: string[]; timeline_id?: string } {
    const firing_ids = [...new Set(firings.map((firing) => firing.id))];
    const leases = new Set(firings.map((firing) => firing.leaseId));
    const lease_ids = [...leases].filter((lease) => lease !== null);
    // Older services do not return a lease.
    return { firing_ids, ...(leases.has(null) ? {} : { lease_ids }), ...this.#timeline };
  }

  /** Extends the leases of firings while their handlers run. */
  async #extendLeases(): Promise<void> {
    const leased = [...this.#leased.keys()];
    for (let first = 0; first < leased.length; first += FIRINGS_MAX) {
      try {
        const parameters = this.#leaseParameters(leased.slice(first, first + FIRINGS_MAX));
        await this.#client.extendFirings({ ...parameters, ttl: this.#ackTimeout });
      } catch (error) {
        console.warn(`leases of firings could not be extended: ${String(error)}`);
      }
    }
  }
}

/** Returns the failure reason of a handler error, truncated to the service's limit. */
function reasonOf(error: Error): string {
  const bytes = new TextEncoder().encode(`${error.name}: ${error.message}`).slice(0, REASON_BYTES_MAX);
  // An incomplete character at the end decodes to a replacement character.
  return new TextDecoder().decode(bytes).replace(/\uFFFD$/, '');
}
