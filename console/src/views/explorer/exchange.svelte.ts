/**
 * Sending, and what came back. Both stay while the page is open, so that a look at another view loses nothing; they
 * are in memory only, and secrets are not in what is kept.
 */
import { EventReader, type RawEvent } from '../../../../clients/typescript/src/sse';
import { isAborted, ApiError, send, ApiConnectionError } from '../../lib/api';
import { withoutSecrets, type Draft } from './draft';
import { isSecret, type Operation } from './openapi';
import { addressPart, requestOf, type WireRequest } from './request';
import type { Schemas } from './schema';

/** A message of a stream, counted from 1. */
interface StreamMessage extends RawEvent {
  number: number;
}

type ExchangeState = 'sending' | 'reading' | 'done' | 'stopped' | 'failed';

/** A request, and as much of its answer as there is. */
export class Exchange {
  state = $state<ExchangeState>('sending');
  status = $state(0);
  statusText = $state('');
  headers = $state.raw<[string, string][]>([]);
  type = $state('');
  /** How long it took until the whole answer was there. */
  tookMs = $state(0);
  bytes = $state(0);
  body = $state.raw<Uint8Array | null>(null);
  messages = $state.raw<StreamMessage[]>([]);
  error = $state.raw<unknown>(null);
  readonly sentAt: string;

  constructor(
    readonly id: number,
    readonly operation: Operation,
    readonly draft: Draft,
    readonly request: WireRequest,
  ) {
    this.sentAt = new Date().toLocaleTimeString('en-GB');
  }

  get address(): string {
    return `/${addressPart(this.request)}`;
  }

  get isUnderWay(): boolean {
    return this.state === 'sending' || this.state === 'reading';
  }

  get isJson(): boolean {
    return /[/+]json\b/.test(this.type) && !this.type.includes('geo+json-seq');
  }

  get isStream(): boolean {
    return this.type.startsWith('text/event-stream');
  }

  get isText(): boolean {
    return this.isJson || this.type.startsWith('text/') || /ndjson|xml/.test(this.type);
  }

  /** The body as a text. */
  get text(): string {
    return this.body === null ? '' : new TextDecoder().decode(this.body);
  }
}

const KEPT_MAX = 50;
/** Bodies of older exchanges go first where they take more than this together. */
const KEPT_BYTES_MAX = 24 * 1_024 * 1_024;
const MESSAGES_MAX = 1_000;

class Exchanges {
  /** The newest first. */
  list = $state.raw<Exchange[]>([]);
  /** The one whose answer is shown. */
  shown = $state.raw<Exchange | null>(null);
  /** Ids that answers named, by field, for whoever needs one next. */
  seen = $state.raw<Record<string, string[]>>({});
  #next = 1;
  #abort: AbortController | null = null;

  /** Sends a draft, and returns once the answer is there. */
  async send(operation: Operation, draft: Draft, schemas: Schemas): Promise<void> {
    this.cancel();
    const request = requestOf(operation, draft);
    const kept = withoutSecrets(operation, draft, schemas);
    const exchange = new Exchange(this.#next++, operation, kept, { ...requestOf(operation, kept), file: null });
    const abort = new AbortController();
    this.#abort = abort;
    this.list = [exchange, ...this.list].slice(0, KEPT_MAX);
    this.shown = exchange;
    const since = performance.now();
    try {
      await transmit(request, exchange, abort.signal, since);
      this.#learn(exchange);
    } catch (error) {
      exchange.state = isAborted(error) ? 'stopped' : 'failed';
      if (!isAborted(error))
        exchange.error =
          error instanceof ApiError || error instanceof ApiConnectionError
            ? error
            : new ApiConnectionError('the answer broke off');
    }
    exchange.tookMs = performance.now() - since;
    this.#forget();
  }

  /** Stops what is under way. */
  cancel(): void {
    this.#abort?.abort();
    this.#abort = null;
  }

  clear(): void {
    this.list = this.list.filter((exchange) => exchange.isUnderWay);
    if (this.shown && !this.shown.isUnderWay) this.shown = null;
  }

  /** Forgets what answers showed once, when somebody looks away from them. */
  hush(): void {
    for (const exchange of this.list) if (exchange !== this.shown || !exchange.isUnderWay) hide(exchange);
  }

  #learn(exchange: Exchange): void {
    if (!exchange.isJson || exchange.status >= 300 || exchange.bytes > 1_000_000) return;
    const found: Record<string, string[]> = { ...this.seen };
    collect(JSON.parse(exchange.text) as unknown, found);
    this.seen = found;
  }

  #forget(): void {
    let bytes = 0;
    for (const exchange of this.list) {
      bytes += exchange.body?.byteLength ?? 0;
      if (bytes > KEPT_BYTES_MAX && exchange !== this.shown) exchange.body = null;
      if (exchange !== this.shown) hide(exchange);
    }
  }
}

export const exchanges = new Exchanges();

async function transmit(request: WireRequest, exchange: Exchange, signal: AbortSignal, since: number): Promise<void> {
  const body = request.file ?? request.text ?? request.json;
  const answer = await send(request.method, request.path, {
    query: request.query,
    headers: request.headers,
    signal,
    ...(body === undefined ? {} : { body }),
  });
  exchange.tookMs = performance.now() - since;
  exchange.status = answer.status;
  exchange.statusText = answer.statusText;
  exchange.headers = [...answer.headers].sort(([a], [b]) => a.localeCompare(b));
  exchange.type = answer.headers.get('Content-Type') ?? '';
  exchange.state = 'reading';
  const reader = answer.body?.getReader();
  const chunks: Uint8Array[] = [];
  const events = new EventReader();
  for (;;) {
    const part = await reader?.read();
    if (part === undefined || part.done) break;
    exchange.bytes += part.value.byteLength;
    if (exchange.isStream) take(exchange, events.push(part.value));
    else chunks.push(part.value);
  }
  exchange.body = joined(chunks);
  exchange.state = 'done';
}

function take(exchange: Exchange, events: readonly RawEvent[]): void {
  const before = exchange.messages.at(-1)?.number ?? 0;
  const numbered = events.map((event, index) => ({ ...event, number: before + index + 1 }));
  if (numbered.length > 0) exchange.messages = [...exchange.messages, ...numbered].slice(-MESSAGES_MAX);
}

function joined(chunks: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}

/** Takes secrets out of an answer: a key is shown once, not kept. */
function hide(exchange: Exchange): void {
  if (!exchange.isJson || exchange.body === null || exchange.bytes > 100_000) return;
  const text = exchange.text;
  if (!text.includes('"api_key"')) return;
  const shown: unknown = JSON.parse(text, (name, value: unknown) => (isSecret(name) ? 'shown once' : value));
  exchange.body = new TextEncoder().encode(JSON.stringify(shown));
}

const SEEN_MAX = 100;

/** Collects ids out of an answer: what one operation answers, the next one asks for. */
function collect(value: unknown, found: Record<string, string[]>): void {
  if (Array.isArray(value)) {
    value.slice(0, SEEN_MAX).forEach((item) => collect(item, found));
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    if (name.endsWith('_id') && typeof item === 'string')
      found[name] = [item, ...(found[name] ?? []).filter((known) => known !== item)].slice(0, SEEN_MAX);
    else collect(item, found);
  }
}
