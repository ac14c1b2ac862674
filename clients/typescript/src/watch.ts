/// <reference lib="esnext.disposable" preserve="true" />
/** Event streams that reconnect and resume. */
import { TimenavError, ApiConnectionError } from './errors.js';
import { STALENESS_BOUNDS_DEFAULT } from './follower.js';
import * as host from './host-time.js';
import { Backoff, isFinal } from './retry.js';
import type { CallOptions, EventStream, ServerSentEvent } from './transport.js';

/** Options of a watch. */
export interface WatchOptions {
  /** The timeline. Defaults to the client's timeline. */
  timelineId?: string;
  /** The id of a message: the watch resumes after it. By default, the watch begins now. */
  lastEventId?: string;
  /** Aborting the signal ends the watch, like `close`. */
  signal?: AbortSignal;
}

/** How to open a stream, at first and after a lost connection, and how to parse its messages. */
export interface Stream<M, T> {
  open: (options: CallOptions) => Promise<EventStream<M>>;
  reopen: (options: CallOptions) => Promise<EventStream<M>>;
  /** Returns null for a message whose kind is unknown to this version. */
  parse: (event: ServerSentEvent<M>) => T | null;
}

/**
 * The messages of a stream, until the watch is closed.
 *
 * After a lost connection, it reconnects, with 0.1 to 5 seconds between attempts, and resumes after the last message. A
 * connection without data for 30 seconds counts as lost. Data is read only while the next message is requested. The
 * iteration rejects with `ApiError` if the service no longer allows the watch.
 */
export class Watch<T> implements AsyncIterableIterator<T> {
  readonly #closing = new AbortController();
  readonly #messages: AsyncGenerator<T, undefined>;
  /** Closes the current connection. */
  #disconnect: () => void;
  #lastId: string;
  #newest: string;

  private constructor(
    disconnect: () => void,
    { lastEventId = '', signal }: WatchOptions,
    messages: (watch: Watch<T>) => AsyncGenerator<T, undefined>,
  ) {
    this.#disconnect = disconnect;
    this.#lastId = this.#newest = lastEventId;
    this.#messages = messages(this);
    if (signal?.aborted) this.close();
    signal?.addEventListener('abort', () => this.close(), { once: true, signal: this.#closing.signal });
  }

  /** Opens the stream. All changes after this resolves are reported. `Client.watchFirings` calls it. */
  static async open<M, T>(stream: Stream<M, T>, options: WatchOptions): Promise<Watch<T>> {
    const { lastEventId, signal } = options;
    const events = await stream.open({
      ...(lastEventId === undefined ? {} : { lastEventId }),
      ...(signal === undefined ? {} : { signal }),
    });
    return new Watch<T>(
      () => events.close(),
      options,
      (watch) => watch.#run(stream, events),
    );
  }

  /** The id of the last message returned, or an empty string: send it as `lastEventId` to resume after it. */
  get lastId(): string {
    return this.#lastId;
  }

  /** Returns the next message, or `done` once the watch is closed. */
  async next(): Promise<IteratorResult<T, undefined>> {
    const result = await this.#messages.next();
    return this.#isClosed() ? { done: true, value: undefined } : result;
  }

  /** Ends the watch. Leaving a `for await` calls it. */
  return(): Promise<IteratorResult<T, undefined>> {
    this.close();
    return this.#messages.return(undefined);
  }

  /** Ends the watch and pending iterations. */
  close(): void {
    this.#closing.abort();
    this.#disconnect();
  }

  /** Ends the watch at the end of a block that opened it with `using`. */
  [Symbol.dispose](): void {
    this.close();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  async *#run<M>(stream: Stream<M, T>, first: EventStream<M>): AsyncGenerator<T, undefined> {
    let events: EventStream<M> | null = first;
    while (events !== null) {
      yield* this.#read(stream, events);
      if (this.#isClosed()) return;
      events.close();
      this.#newest = events.lastId || this.#newest;
      events = await this.#reopen(stream);
      if (events === null || this.#newest !== '') continue;
      // Without an id, the stream cannot resume, so changes since the loss are missing.
      const lost = stream.parse({ event: 'reset', id: '', data: {} as M });
      if (lost !== null) yield lost;
    }
  }

  /** Reads the messages of one connection until it ends or the service stops sending. */
  async *#read<M>(stream: Stream<M, T>, events: EventStream<M>): AsyncGenerator<T, undefined> {
    try {
      for await (const event of events.withIdleTimeout(STALENESS_BOUNDS_DEFAULT.staleAfterMs)) {
        const update = stream.parse(event);
        this.#lastId = event.id;
        if (update !== null) yield update;
      }
    } catch (error) {
      if (error instanceof SyntaxError || error instanceof RangeError || error instanceof TypeError) {
        this.close();
        throw new TimenavError(`the response is not from a timenav service: ${error.message}`);
      }
      if (!(error instanceof ApiConnectionError)) throw error;
    }
  }

  /** Reconnects with retries. Returns null if the watch is closed first. */
  async #reopen<M>(stream: Stream<M, T>): Promise<EventStream<M> | null> {
    const { signal } = this.#closing;
    const after = this.#newest === '' ? {} : { lastEventId: this.#newest };
    const backoff = new Backoff();
    let failure: unknown = null;
    for (;;) {
      await host.pause(backoff.nextMs(failure), signal);
      if (this.#isClosed()) return null;
      try {
        const events = await stream.reopen({ ...after, signal });
        this.#disconnect = () => events.close();
        return events;
      } catch (error) {
        if (this.#isClosed()) return null;
        if (!(error instanceof TimenavError) || isFinal(error)) throw error;
        failure = error;
      }
    }
  }
}
