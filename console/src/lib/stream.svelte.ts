/**
 * Server-sent events that come back by themselves. The browser's own EventSource gives up at an HTTP error (a
 * service that restarts answers 503 for a moment), so after each end a new one is made, a little later each time.
 */
import { address, type Query } from './base';
import { session } from './session.svelte';

export type StreamState = 'connecting' | 'open' | 'lost';

const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 10_000;

export interface Message {
  /** Name of the event, such as `clock`. */
  event: string;
  /** Position in the ledger. */
  id: string;
  data: unknown;
}

/** A connection to a stream. Close it when the view goes away. */
export class Stream {
  state = $state<StreamState>('connecting');
  #source: EventSource | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #lastId = '';
  #waitMs = RETRY_FIRST_MS;
  #isClosed = false;

  constructor(
    private readonly path: string,
    private readonly query: Query,
    private readonly events: readonly string[],
    private readonly onMessage: (message: Message) => void,
  ) {
    this.#connect();
  }

  #connect(): void {
    // A new EventSource cannot send Last-Event-ID, so a connection that replaces a lost one begins with the present
    // state; `reset` tells the view to read anew what it shows.
    const source = new EventSource(address(this.path, this.query));
    this.#source = source;
    source.onopen = () => {
      const isBack = this.state === 'lost' && this.#lastId !== '';
      this.state = 'open';
      this.#waitMs = RETRY_FIRST_MS;
      if (isBack) this.onMessage({ event: 'reset', id: this.#lastId, data: null });
    };
    for (const event of this.events) {
      source.addEventListener(event, (message) => {
        this.#lastId = message.lastEventId;
        this.onMessage({ event, id: message.lastEventId, data: JSON.parse(message.data as string) });
      });
    }
    source.onerror = () => {
      this.state = 'lost';
      if (source.readyState !== EventSource.CLOSED || this.#isClosed) return;
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#again(), this.#waitMs);
      this.#waitMs = Math.min(this.#waitMs * 2, RETRY_MAX_MS);
    };
  }

  async #again(): Promise<void> {
    // Whether the session still stands is asked first: a stream's error has no status.
    try {
      await session.read();
    } catch {
      // Still unreachable: the next attempt tells.
    }
    if (!this.#isClosed && session.user !== null) this.#connect();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#source?.close();
  }
}
