/** Sent requests and their responses, kept in memory while the page is open, without secrets. */
import { EventReader, type RawEvent } from '../../../../clients/typescript/src/sse';
import { ApiConnectionError, ApiError, isAborted, send } from '../../lib/service/api';
import { addressPart, requestOf, withoutSecrets, type Draft, type WireRequest } from './draft';
import { isSecret, type Operation } from './openapi';

/** A message of an event stream, numbered from 1. */
interface StreamMessage extends RawEvent {
  number: number;
}

/** A request and its response so far. */
export class Exchange {
  state = $state<'sending' | 'reading' | 'done' | 'stopped' | 'failed'>('sending');
  status = $state(0);
  statusText = $state('');
  headers = $state.raw<[string, string][]>([]);
  type = $state('');
  /** Time until the response was complete. */
  tookMs = $state(0);
  bytes = $state(0);
  body = $state.raw<Uint8Array<ArrayBuffer> | null>(null);
  messages = $state.raw<StreamMessage[]>([]);
  error = $state.raw<unknown>(null);
  readonly sentAt = new Date().toLocaleTimeString('en-GB');

  constructor(
    readonly operation: Operation,
    readonly draft: Draft,
    readonly request: WireRequest,
  ) {}

  get address(): string {
    return `/${addressPart(this.request)}`;
  }
  get took(): string {
    const seconds = this.tookMs / 1_000;
    return seconds < 1 ? `${this.tookMs.toFixed(seconds < 0.01 ? 1 : 0)} ms` : `${seconds.toFixed(2)} s`;
  }
  /** The class for the color of the status. */
  get grade(): 'good' | 'warn' | 'bad' {
    if (this.status >= 200 && this.status < 400) return 'good';
    return this.status >= 500 || this.status === 0 ? 'bad' : 'warn';
  }
  get isUnderWay(): boolean {
    return this.state === 'sending' || this.state === 'reading';
  }
  get isJson(): boolean {
    return /[/+]json\b/.test(this.type);
  }
  get isStream(): boolean {
    return this.type.startsWith('text/event-stream');
  }
  get isText(): boolean {
    return this.isJson || /^text\/|ndjson/.test(this.type);
  }
  get text(): string {
    return this.body === null ? '' : new TextDecoder().decode(this.body);
  }
}

const EXCHANGES_MAX = 50;
const BODIES_MAX = 10;
const MESSAGES_MAX = 200;

class Exchanges {
  /** Newest first. */
  list = $state.raw<Exchange[]>([]);
  /** The exchange whose response is shown. */
  current = $state.raw<Exchange | null>(null);
  #abort: AbortController | null = null;

  /** Sends a draft and resolves when the response is complete. */
  async send(operation: Operation, draft: Draft): Promise<void> {
    this.cancel();
    const safe = withoutSecrets(operation, draft);
    const exchange = new Exchange(operation, safe, { ...requestOf(operation, safe), file: null });
    const abort = new AbortController();
    this.#abort = abort;
    this.list = [exchange, ...this.list].slice(0, EXCHANGES_MAX);
    this.current = exchange;
    const since = performance.now();
    try {
      await transmit(requestOf(operation, draft), exchange, abort.signal);
    } catch (error) {
      exchange.state = isAborted(error) ? 'stopped' : 'failed';
      const isKnown = error instanceof ApiError || error instanceof ApiConnectionError;
      if (!isAborted(error)) exchange.error = isKnown ? error : new ApiConnectionError('the response was cut off');
    }
    exchange.tookMs = performance.now() - since;
    this.#prune();
  }

  cancel(): void {
    this.#abort?.abort();
    this.#abort = null;
  }

  clear(): void {
    this.list = this.list.filter((exchange) => exchange.isUnderWay);
    if (this.current && !this.current.isUnderWay) this.current = null;
  }

  /** Removes secrets from all responses. Called when the user leaves the explorer. */
  maskAll(): void {
    this.list.filter((exchange) => !exchange.isUnderWay).forEach(mask);
  }

  #prune(): void {
    this.list.forEach((exchange, index) => {
      if (exchange === this.current) return;
      if (index >= BODIES_MAX) exchange.body = null;
      mask(exchange);
    });
  }
}

export const exchanges = new Exchanges();

/** The last draft of each operation, without secrets. */
export const drafts = new Map<string, Draft>();

/** The operation that was open last. */
export const last = { operation: 'clock' };

async function transmit(request: WireRequest, exchange: Exchange, signal: AbortSignal): Promise<void> {
  const { method, path, query, headers } = request;
  const body = request.file ?? request.text ?? request.json;
  const answer = await send(method, path, { query, headers, signal, ...(body === undefined ? {} : { body }) });
  exchange.status = answer.status;
  exchange.statusText = answer.statusText;
  exchange.headers = [...answer.headers].sort(([a], [b]) => a.localeCompare(b));
  exchange.type = answer.headers.get('Content-Type') ?? '';
  exchange.state = 'reading';
  const reader = answer.body?.getReader();
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const events = new EventReader();
  for (;;) {
    const part = await reader?.read();
    if (part === undefined || part.done) break;
    exchange.bytes += part.value.byteLength;
    if (!exchange.isStream) chunks.push(part.value);
    else
      for (const event of events.push(part.value)) {
        const number = (exchange.messages[0]?.number ?? 0) + 1;
        exchange.messages = [{ ...event, number }, ...exchange.messages].slice(0, MESSAGES_MAX);
      }
  }
  exchange.body = new Uint8Array(await new Blob(chunks).arrayBuffer());
  exchange.state = 'done';
}

/** Removes an API key from a response. The service shows it once, and it must not be kept. */
function mask(exchange: Exchange): void {
  if (!exchange.isJson || exchange.body === null || exchange.bytes > 100_000) return;
  const { text } = exchange;
  if (!text.includes('"api_key"')) return;
  const masked: unknown = JSON.parse(text, (name, value: unknown) => (isSecret(name) ? 'shown once' : value));
  exchange.body = new TextEncoder().encode(JSON.stringify(masked));
}
