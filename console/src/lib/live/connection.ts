/** A connection to an event stream of the service that reconnects when it ends. */
import { EventReader } from '../../../../clients/typescript/src/sse';

const RETRY_FIRST_MS = 500;
const RETRY_MAX_MS = 10_000;
/** The service sends a heartbeat every 15 seconds. After a longer silence, the connection is considered dead. */
const SILENT_MAX_MS = 45_000;

interface Listener {
  /** Messages arrive from here on. With a gap, earlier messages may be missing. */
  onOpened(hasGap: boolean): void;
  /** The connection ended or failed. A reconnect follows. */
  onLost(): void;
  /** The service rejected the request, and a retry would fail again. */
  onRefused(status: number): void;
  onMessage(event: string, data: unknown, isFirst: boolean): void;
  /** Called for every message and heartbeat. */
  onContact(): void;
}

export class Connection {
  #abort = new AbortController();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waitMs = RETRY_FIRST_MS;
  #ended = new AbortController();

  constructor(
    private readonly url: string,
    /** ID of the last message. The service resends later ones. */
    public lastId: string,
    private readonly listener: Listener,
  ) {
    void this.#run();
  }

  async #run(): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    let afterMs = 0;
    try {
      afterMs = await this.#listen(abort);
    } catch {
      // Connection failed or was interrupted.
    }
    if (this.#ended.signal.aborted || afterMs < 0) return;
    this.listener.onLost();
    this.#timer = setTimeout(() => void this.#run(), Math.max(this.#waitMs, afterMs));
    this.#waitMs = Math.min(this.#waitMs * 2, RETRY_MAX_MS);
  }

  /** Returns the delay until the next attempt, or a negative number to stop. */
  async #listen(abort: AbortController): Promise<number> {
    const headers: Record<string, string> = { Accept: 'text/event-stream' };
    let isFirst = this.lastId === '';
    if (!isFirst) headers['Last-Event-ID'] = this.lastId;
    const response = await fetch(this.url, {
      headers,
      credentials: 'same-origin',
      cache: 'no-store',
      signal: abort.signal,
    });
    const { status } = response;
    if (this.#ended.signal.aborted) return -1;
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      if (status < 400 || status >= 500 || status === 408 || status === 429)
        return Number(response.headers.get('Retry-After') ?? 0) * 1_000;
      this.listener.onRefused(status);
      return -1;
    }
    this.listener.onOpened(isFirst);
    this.#waitMs = RETRY_FIRST_MS;
    const reader = response.body.getReader();
    const events = new EventReader();
    for (;;) {
      const silence = setTimeout(() => abort.abort(), SILENT_MAX_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done || this.#isClosed()) return 0;
      this.listener.onContact();
      for (const { event, data } of events.push(value)) {
        this.listener.onMessage(event, JSON.parse(data), isFirst);
        isFirst = false;
      }
      if (events.lastId !== '') this.lastId = events.lastId;
    }
  }

  #isClosed(): boolean {
    return this.#ended.signal.aborted;
  }

  close(): void {
    this.#ended.abort();
    clearTimeout(this.#timer);
    this.#abort.abort();
  }
}
