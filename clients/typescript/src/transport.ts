/// <reference lib="esnext.disposable" preserve="true" />
/** Sends requests with retries, and converts error responses to exceptions. */
import { ApiError, TimenavError, ApiConnectionError } from './errors.js';
import { pause, startTimer, stopTimer } from './host-time.js';
import { OPERATIONS, type Operation } from './operations.js';
import { retryAfterSeconds, waitMs, type Outcome } from './retry.js';
import type { PlainInit, Settings } from './settings.js';
import type { Output, FileContent, OperationName } from './operation-types.js';
import { EventReader } from './sse.js';

/** Options of a call, in addition to its input. */
export interface CallOptions {
  signal?: AbortSignal;
  /**
   * Makes the request conditional on the generation of the clock or on an entity tag; `*` matches any existing version.
   */
  ifMatch?: number | string;
  /** A request repeated with the same key takes effect once. By default, each call has a new key. */
  idempotencyKey?: string;
  /** The id of a message: the stream resumes after it. */
  lastEventId?: string | number;
  /** The firing whose handler sends the request, so that the service recognizes clock moves by a handler. */
  firing?: string;
  /** The host name of a named follower, for a call that opens a clock stream. `GET /v1/followers` lists it. */
  host?: string;
  /** The process id of a named follower. */
  process?: number;
}

/** One event of a stream. */
export interface ServerSentEvent<T> {
  /** The name, such as `clock`. */
  event: string;
  /** The id: send it as `lastEventId` to resume after this event. */
  id: string;
  data: T;
}

type Values = Record<string, unknown>;
const ACCEPT = { json: 'application/json', text: 'text/plain', events: 'text/event-stream', other: '*/*' };

/** The settings shared by all calls. */
export class Transport {
  protected readonly settings: Settings;
  /** The firing whose handler sends the requests. */
  protected readonly firing: string | null = null;

  constructor(settings: Settings) {
    this.settings = settings;
  }

  protected async json<Name extends OperationName>(
    name: Name,
    input: object,
    options: CallOptions,
  ): Promise<Output<Name>> {
    const response = await this.#call(name, input, options, ACCEPT.json);
    return readJson<Output<Name>>(response, options.signal);
  }

  protected async text(name: OperationName, input: object, options: CallOptions): Promise<string> {
    return readBody(await this.#call(name, input, options, ACCEPT.text), (response) => response.text(), options.signal);
  }

  protected async bytes(name: OperationName, input: object, options: CallOptions): Promise<Uint8Array> {
    const response = await this.#call(name, input, options, ACCEPT.other);
    return new Uint8Array(await readBody(response, (body) => body.arrayBuffer(), options.signal));
  }

  protected download(name: OperationName, input: object, options: CallOptions): Promise<Response> {
    return this.#call(name, input, options, ACCEPT.other, true);
  }

  protected async events<T>(name: OperationName, input: object, options: CallOptions): Promise<EventStream<T>> {
    const closing = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, closing.signal]) : closing.signal;
    return new EventStream<T>(await this.#call(name, input, { ...options, signal }, ACCEPT.events, true), closing);
  }

  async #call(
    name: OperationName,
    input: object,
    options: CallOptions,
    accept: string,
    isStream = false,
  ): Promise<Response> {
    const operation: Operation = OPERATIONS[name];
    const callOptions = this.firing === null ? options : { firing: this.firing, ...options };
    const { path, init } = request(operation, input as Values, callOptions, this.settings.timelineId);
    init.headers.Accept = accept;
    const isConsumed = init.body instanceof ReadableStream;
    const isRepeatable = operation.method === 'GET' || operation.isIdempotent;
    let waitedMs = 0;
    for (let attempt = 1; ; attempt += 1) {
      const { response, outcome, failure } = await this.#attempt(path, init, options.signal, isStream);
      if (response) return response;
      const after = failure instanceof ApiError ? failure.retryAfterSeconds : null;
      const attemptMade = { attempt, outcome, isRepeatable, retryAfterSeconds: after, waitedMs };
      const wait = isConsumed ? null : waitMs(this.settings.retries, attemptMade);
      if (wait === null) throw failure;
      await pause(wait, options.signal);
      options.signal?.throwIfAborted();
      waitedMs += wait;
    }
  }

  async #attempt(
    path: string,
    init: PlainInit,
    signal: AbortSignal | undefined,
    isStream: boolean,
  ): Promise<{ response?: Response; outcome: Outcome; failure: Error }> {
    const noFailure = new ApiConnectionError('');
    // A streamed response has no total timeout.
    const limit = isStream ? undefined : AbortSignal.timeout(this.settings.timeoutMs);
    const signals = [signal, limit].filter((candidate) => candidate !== undefined);
    const bounded = signals.length > 0 ? { ...init, signal: AbortSignal.any(signals) } : init;
    try {
      const response = await this.settings.send(path, bounded);
      if (response.ok) return { response, outcome: response.status, failure: noFailure };
      return { outcome: response.status, failure: await rejection(response) };
    } catch (error) {
      signal?.throwIfAborted();
      const wasSent = !isConnectError(error);
      const what = wasSent ? 'did not respond' : 'cannot be reached';
      const failure = new ApiConnectionError(`${this.settings.baseUrl} ${what}: ${reason(error)}`);
      return { outcome: wasSent ? 'no_response' : 'not_sent', failure };
    }
  }
}

/** Converts a call to a request. */
function request(
  operation: Operation,
  input: Values,
  options: CallOptions,
  timelineId: string | null,
): { path: string; init: PlainInit } {
  const { body, content, content_type, ...values } = { ...input };
  const isRaw = operation.body === 'raw';
  const rest: Values = operation.body === 'object' ? { ...input } : values;
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = encodeURIComponent(textOf(rest[name]));
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- this is a private copy
    delete rest[name];
    if (['', '.', '..'].includes(value)) throw new RangeError(`${name} must not be "${value}"`);
    // A tile path contains slashes, which must not be escaped.
    return name === 'tile' ? value.replaceAll('%2F', '/') : value;
  });
  if (timelineId !== null && operation.hasTimeline) rest.timeline_id ??= timelineId;
  const query = new URLSearchParams();
  for (const name of operation.query) {
    appendTo(query, name, rest[name]);
  }
  const headers: Record<string, string> = {};
  if (options.ifMatch !== undefined) {
    headers['If-Match'] = typeof options.ifMatch === 'number' ? `"${options.ifMatch}"` : options.ifMatch;
  }
  if (operation.isIdempotent) headers['Idempotency-Key'] = options.idempotencyKey ?? randomKey();
  if (options.lastEventId !== undefined) headers['Last-Event-ID'] = String(options.lastEventId);
  if (options.firing !== undefined) headers['Timenav-Firing'] = options.firing;
  if (options.host !== undefined) headers['Timenav-Host'] = options.host;
  if (options.process !== undefined) headers['Timenav-Process'] = String(options.process);
  const timeline = input.timeline_id ?? rest.timeline_id;
  // If the id is not a valid header value, the header is omitted, and the service rejects the id with an explanation.
  if (typeof timeline === 'string' && /^[!-~]+$/.test(timeline)) headers['Timenav-Timeline'] = timeline;
  const init: PlainInit = { method: operation.method, headers };
  if (isRaw) {
    headers['Content-Type'] = textOf(content_type) || 'application/octet-stream';
    init.body = content as FileContent;
    // Node requires `duplex` for a streamed body.
    if (content instanceof ReadableStream) Object.assign(init, { duplex: 'half' });
  } else if (operation.body !== 'none') {
    headers['Content-Type'] = 'application/json';
    init.body = JSON.stringify(operation.body === 'json' ? body : rest);
  }
  const search = query.toString();
  return { path: search ? `${path}?${search}` : path, init };
}

function appendTo(query: URLSearchParams, name: string, value: unknown): void {
  if (value === undefined || value === null) return;
  if (Array.isArray(value)) {
    query.append(name, value.map(textOf).join(','));
  } else if (typeof value === 'object' && !('toJSON' in value)) {
    for (const [key, item] of Object.entries(value)) query.append(`${name}.${key}`, textOf(item));
  } else {
    query.append(name, textOf(value));
  }
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  // `Date` and `Instant` define their own JSON format.
  const plain = (typeof value === 'object' ? JSON.parse(JSON.stringify(value)) : value) as string | number | boolean;
  return String(plain);
}

/** Returns a unique key. `crypto.randomUUID` is not available in pages served over plain HTTP. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Parses an error response. */
export async function rejection(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  let body: unknown = null;
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy may send any body.
  }
  const after = retryAfterSeconds(response.headers.get('Retry-After'));
  return ApiError.of(response.status, body, response.headers.get('X-Request-Id'), after);
}

/** Parses the JSON body of a response. */
export async function readJson<T>(response: Response, signal?: AbortSignal): Promise<T> {
  const text = await readBody(response, (body) => body.text(), signal);
  try {
    return JSON.parse(text) as T;
  } catch {
    throw ApiError.of(
      response.status,
      { code: 'unexpected_response', status: 'The response is not JSON.' },
      null,
      null,
    );
  }
}

async function readBody<T>(
  response: Response,
  read: (response: Response) => Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T> {
  try {
    return await read(response);
  } catch (error) {
    signal?.throwIfAborted();
    throw new ApiConnectionError(`the response was incomplete: ${reason(error)}`);
  }
}

/** Returns the reason why no response arrived. */
export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.message ? cause.message : error.message || error.name;
}

/**
 * Returns whether a request failed before it was sent. Browsers do not report this, so a failed request counts as sent.
 */
function isConnectError(error: unknown): boolean {
  const cause = error instanceof Error ? (error.cause as { code?: unknown } | undefined) : undefined;
  const codes = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];
  return codes.includes(String(cause?.code));
}

/** The messages of a stream, in order, until it ends. */
export class EventStream<T> implements AsyncIterable<ServerSentEvent<T>> {
  readonly #reader = new EventReader();

  constructor(
    private readonly response: Response,
    private readonly closing: AbortController,
  ) {}

  /** The newest id received, even without a message: send it as `lastEventId` to resume here. */
  get lastId(): string {
    return this.#reader.lastId;
  }

  [Symbol.asyncIterator](): AsyncGenerator<ServerSentEvent<T>> {
    return this.withIdleTimeout(Infinity);
  }

  /** Iterates over the messages. After this many milliseconds without data, the stream counts as lost. */
  async *withIdleTimeout(idleTimeoutMs: number): AsyncGenerator<ServerSentEvent<T>> {
    const body = this.response.body?.getReader();
    const service = { isIdle: false };
    const onIdle = (): void => {
      service.isIdle = true;
      this.closing.abort();
    };
    try {
      while (body !== undefined) {
        const timer = idleTimeoutMs === Infinity ? null : startTimer(onIdle, idleTimeoutMs);
        const { done, value } = await body.read().finally(() => timer !== null && stopTimer(timer));
        if (done) return;
        for (const { event, id, data } of this.#reader.push(value)) {
          yield { event, id, data: JSON.parse(data) as T };
        }
      }
    } catch (error) {
      if (error instanceof SyntaxError) {
        throw new TimenavError(`the response is not from a timenav service: ${error.message}`);
      }
      if (service.isIdle) throw new ApiConnectionError('the stream was lost: the service has stopped sending');
      if (!this.closing.signal.aborted) throw new ApiConnectionError(`the stream was lost: ${reason(error)}`);
    }
  }

  /** Ends the stream. */
  close(): void {
    this.closing.abort();
  }

  /** Ends the stream at the end of a block that opened it with `using`. */
  [Symbol.dispose](): void {
    this.close();
  }
}
