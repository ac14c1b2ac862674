/// <reference lib="esnext.disposable" preserve="true" />
/** Works on what fires in a queue. */
import type { Client } from './client.js';
import { ApiError } from './errors.js';
import { firingOf, type Firing } from './firing.js';
import * as host from './host-time.js';
import { jittered } from './retry.js';
import type { Schema } from './shapes.js';
import { FINAL } from './virtual-clock.js';

/** What is done with a firing. It is acknowledged when this has returned, and when its promise is resolved. */
export type Handler = (firing: Firing<Client>) => unknown;

export interface ListenOptions {
  /** The timeline. Defaults to that of the client. */
  timelineId?: string;
  /** How many firings are worked on side by side. Defaults to 1. */
  concurrency?: number;
  /** After how much host time others get a firing if this program dies. Defaults to 30 seconds. */
  ackTimeoutMs?: number;
}

/** Who asks. */
interface Asks {
  client: Client;
  /** Sends nothing again: a listener waits by itself between two claims, so that nothing keeps it from stopping. */
  claims: Client;
  answerMsMax: number;
}

const CLAIM_MS = 20_000;
const REASON_BYTES_MAX = 1_024;
/** Firings that one request may name. */
const NAMED_MAX = 1_000;
const DELAY_FIRST = 0.1;
const DELAY_MAX = 5;
/**
 * A queue counts as heard for ten seconds after a claim. A handler that takes longer is followed by another claim before
 * it is acknowledged, or else the clock would leave what is left at this moment behind.
 */
const IDLE_CLAIM_MICROS = 5_000_000n;

/** Claims firings of a queue and hands them to a handler, until it is closed. */
export class Listener {
  readonly #client: Client;
  readonly #claims: Client;
  readonly #answerMsMax: number;
  readonly #handler: Handler;
  readonly #concurrency: number;
  readonly #ackTimeout: string;
  readonly #timeline: { timeline_id?: string };
  /** Handlers at work. */
  readonly #running = new Set<Promise<void>>();
  /** Firings that are leased: the service is told what a handler did while the next one runs. */
  readonly #inHand = new Map<Firing<Client>, Promise<void>>();
  readonly #closing = new AbortController();
  readonly #keeper: host.Timer;
  #claimedAt: bigint | null = null;
  #failure: Error | null = null;
  #ended: Promise<void> = Promise.resolve();
  #isEnded = false;

  private constructor(
    readonly queue: string,
    { client, claims, answerMsMax }: Asks,
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
    this.#answerMsMax = answerMsMax;
    this.#handler = handler;
    this.#concurrency = concurrency;
    this.#ackTimeout = `${ackTimeoutMs / 1_000}s`;
    this.#timeline = timelineId === undefined ? {} : { timeline_id: timelineId };
    // Two requests may fail before somebody else is given the firing.
    this.#keeper = host.startInterval(() => void this.#keep(), ackTimeoutMs / 3);
  }

  /**
   * Makes the queue heard, and resolves: an advance that begins now waits for this listener. `Client.on` calls it.
   */
  static async start(queue: string, asks: Asks, handler: Handler, options: ListenOptions): Promise<Listener> {
    const listener = new Listener(queue, asks, handler, options);
    try {
      await listener.#claimAtOnce(listener.#concurrency);
    } catch (error) {
      host.stopInterval(listener.#keeper);
      throw error;
    }
    listener.#ended = listener.#run();
    return listener;
  }

  /** Whether firings are claimed. */
  get isRunning(): boolean {
    return !this.#isEnded && this.#isOpen();
  }

  /** Resolves when the listener has ended. Rejects if the service does not let it claim any more. */
  async join(): Promise<void> {
    await this.#ended;
    if (this.#failure !== null) throw this.#failure;
  }

  /**
   * Claims nothing more, and resolves when all handlers are done and what they did is acknowledged. A handler may call it,
   * but must not await it: it would wait for itself.
   */
  async close(): Promise<void> {
    // The connection is closed, and the service gives what it was about to hand out to others.
    this.#closing.abort();
    await this.#ended;
  }

  /** Closes the listener at the end of a block that started it with `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let delay = DELAY_FIRST;
    while (this.#isOpen() && this.#failure === null) {
      const free = this.#free();
      if (free === 0) {
        await Promise.race([...this.#running, ...this.#inHand.values()]);
        continue;
      }
      try {
        this.#claimedAt = null;
        this.#take(await this.#claim(this.#claims, free, CLAIM_MS, signal));
        delay = DELAY_FIRST;
      } catch (error) {
        if (!this.#isOpen()) break;
        if (error instanceof ApiError && FINAL.has(error.httpStatus)) {
          this.#failure = error;
          break;
        }
        const after = error instanceof ApiError ? error.retryAfterSeconds : null;
        console.warn(`claiming from the queue ${this.queue} failed; will retry: ${String(error)}`);
        await host.pause((after ?? jittered(delay)) * 1_000, signal);
        delay = Math.min(delay * 2, DELAY_MAX);
      }
    }
    await Promise.all(this.#inHand.values());
    host.stopInterval(this.#keeper);
    this.#isEnded = true;
  }

  /**
   * Returns how many handlers more may run. Where the service is being told of more firings than that, no more is
   * claimed: a slow service would have a fast handler hold ever more.
   */
  #free(): number {
    const settling = this.#inHand.size - this.#running.size;
    return settling <= this.#concurrency ? Math.max(0, this.#concurrency - this.#running.size) : 0;
  }

  #isOpen(): boolean {
    return !this.#closing.signal.aborted;
  }

  #claim(client: Client, max: number, waitMs: number, signal?: AbortSignal): Promise<Schema<'ClaimedBody'>> {
    // The answer comes before it counts as lost.
    const wait = `${Math.floor(Math.min(waitMs, this.#answerMsMax / 2)) / 1_000}s`;
    const input = { queue: this.queue, max, wait, ack_timeout: this.#ackTimeout, ...this.#timeline };
    return client.claimFirings(input, signal === undefined ? {} : { signal });
  }

  async #claimAtOnce(max: number): Promise<void> {
    this.#take(await this.#claim(this.#client, max, 0));
  }

  /** Claims what else has fallen due if nobody has asked for some time. */
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
      const firing = firingOf(body, this.#client.inside(body.firing_id));
      const handled = this.#handle(firing);
      const running = handled.then(() => void this.#running.delete(running));
      this.#running.add(running);
      const settled = handled
        .then((failed) => this.#settle(firing, failed))
        .finally(() => void this.#inHand.delete(firing));
      this.#inHand.set(firing, settled);
    }
  }

  /** Returns why the handler failed, if it did. Never rejects. */
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

  /** Tells the service what became of a firing. Never rejects. */
  async #settle(firing: Firing<Client>, failed: Error | null): Promise<void> {
    const named = this.#named([firing]);
    try {
      if (failed === null) {
        await this.#client.acknowledgeFirings(named);
      } else {
        await this.#client.failFirings({ ...named, reason: reasonOf(failed) });
      }
    } catch (error) {
      const isLost = error instanceof ApiError && error.code === 'lease_lost';
      const why = isLost
        ? `${firing.id} took longer than its lease lasted, and another worker has it`
        : `the service was not told what became of ${firing.id}, and hands it out again`;
      console.warn(`${why}: ${String(error)}`);
    }
  }

  /** Returns what names firings, and the leases that they are held under. */
  #named(firings: Firing<Client>[]): { firing_ids: string[]; lease_ids?: string[]; timeline_id?: string } {
    const firing_ids = [...new Set(firings.map((firing) => firing.id))];
    const leases = new Set(firings.map((firing) => firing.leaseId));
    const lease_ids = [...leases].filter((lease) => lease !== null);
    // A service of an earlier version tells no lease.
    return { firing_ids, ...(leases.has(null) ? {} : { lease_ids }), ...this.#timeline };
  }

  /** Keeps firings for longer while handlers work on them. */
  async #keep(): Promise<void> {
    const inHand = [...this.#inHand.keys()];
    for (let first = 0; first < inHand.length; first += NAMED_MAX) {
      try {
        const named = this.#named(inHand.slice(first, first + NAMED_MAX));
        await this.#client.extendFirings({ ...named, ttl: this.#ackTimeout });
      } catch (error) {
        console.warn(`firings could not be kept for longer: ${String(error)}`);
      }
    }
  }
}

/** Returns what is said of a handler that failed, in as many bytes as the service takes. */
function reasonOf(error: Error): string {
  const bytes = new TextEncoder().encode(`${error.name}: ${error.message}`).slice(0, REASON_BYTES_MAX);
  // A character that is cut in two becomes one of replacement.
  return new TextDecoder().decode(bytes).replace(/\uFFFD$/, '');
}
