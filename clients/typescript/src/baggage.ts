/** Per-request clocks for Node: the `baggage` header of a request names its timeline. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client } from './client.js';
import { ClockClosedError, ClockAccessError, ClockUnavailableError, ApiError, TimenavError } from './errors.js';
import type { Instant } from './instant.js';
import type { VirtualClock } from './virtual-clock.js';

/** The header name (W3C Baggage). */
export const HEADER = 'baggage';
/** The baggage member that names a timeline. */
export const MEMBER = 'timenav';

/** Default limit of open clocks. Each clock is a stream, and the service allows 100 streams per user by default. */
const CLOCKS_MAX = 64;
/** HTTP statuses for a timeline that is invalid or does not exist, or that the key may not access. */
const UNKNOWN_TIMELINE: ReadonlySet<number> = new Set([400, 403, 404, 410]);
const BAD_REQUEST = 400;
const UNAVAILABLE = 503;
const CURRENT = new AsyncLocalStorage<VirtualClock>();

/** The baggage of a request does not name a valid timeline. Respond with 400. */
export class BaggageError extends TimenavError {
  override name = 'BaggageError';
}

/** All clocks are in use by requests. Respond with 503, because this is temporary. */
export class TooManyClocksError extends TimenavError {
  override name = 'TooManyClocksError';
}

/**
 * Returns the timeline that a `baggage` header names, or null.
 *
 * Throws `BaggageError` if the header names two timelines or an invalid one. Do not fall back to the host's time: the
 * sender asked for another one.
 */
export function timelineIn(header: string | null | undefined): string | null {
  let found: string | null = null;
  for (const member of (header ?? '').split(',')) {
    const [key, value] = splitOnce(member, '=');
    if (name(key) !== MEMBER) continue;
    const timeline = decode(trim(splitOnce(value, ';')[0]));
    if (found !== null && found !== timeline) {
      throw new BaggageError(`the baggage names two timelines, \`${found}\` and \`${timeline}\`; send one`);
    }
    found = timeline;
  }
  return found;
}

/** Returns a `baggage` header that names a timeline and keeps all other members. */
export function withTimeline(header: string | null | undefined, timelineId: string): string {
  const members = (header ?? '').split(',').map(trim);
  const others = members.filter((member) => member !== '' && name(splitOnce(member, '=')[0]) !== MEMBER);
  return [...others, `${MEMBER}=${encodeURIComponent(timelineId)}`].join(',');
}

/** Returns the clock of the current request. Throws outside a request. It never falls back to the host's time. */
export function clock(): VirtualClock {
  const current = CURRENT.getStore();
  if (current === undefined) {
    throw new TimenavError('no request is being served: serve requests with `RequestClocks`');
  }
  return current;
}

/**
 * Returns headers for a request to another service, with the timeline of the current request. Outside a request, the
 * headers are returned unchanged.
 */
export function outgoingHeaders(headers?: ConstructorParameters<typeof Headers>[0]): Headers {
  const sent = new Headers(headers);
  const current = CURRENT.getStore();
  if (current !== undefined) sent.set(HEADER, withTimeline(sent.get(HEADER), current.timelineId));
  return sent;
}

/** `fetch` that forwards the timeline of the current request. */
export function forwardingFetch(input: string | URL | Request, options: RequestInit = {}): Promise<Response> {
  const given = options.headers ?? (input instanceof Request ? input.headers : undefined);
  return fetch(input, { ...options, headers: outgoingHeaders(given) });
}

/** A database connection that runs queries, such as a `pg` client. */
export interface Database {
  query(statement: string, values: string[]): unknown;
}

/**
 * Sets the time that `timenav_now()` of `timenav sql-clock` returns until the transaction ends. Defaults to the time of
 * the current request.
 */
export async function setSqlClock(database: Database, moment: Instant = clock().now()): Promise<void> {
  const text = String(moment);
  const end = text.indexOf('-', 1);
  const year = Number(text.slice(0, end));
  // PostgreSQL has neither a year 0 nor signed years.
  const sqlTime = year > 0 ? text : `${String(1 - year).padStart(4, '0')}${text.slice(end)} BC`;
  await database.query("SELECT set_config('timenav.now', $1, true)", [sqlTime]);
}

/** Options of `RequestClocks`. */
export interface RequestClocksOptions {
  /** Decides which timelines requests may name. Defaults to all timelines visible to the key. */
  allowed?: (timelineId: string) => boolean;
  /** The maximum number of open clocks. Defaults to 64. */
  clocksMax?: number;
  /** The maximum wait for the initial state of a clock, in milliseconds of host time. Defaults to 10 seconds. */
  timeoutMs?: number;
}

/** The part of a Node request that the middleware uses. */
export interface IncomingRequest {
  headers: Record<string, string | string[] | undefined>;
}

/** The part of a Node response that the middleware uses. */
export interface OutgoingResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** The clock of a timeline. `clock` is null while it is being opened. */
interface SharedClock {
  readonly opened: Promise<VirtualClock>;
  clock: VirtualClock | null;
  uses: number;
}

/**
 * The clocks of requests. A clock is opened on the first request for its timeline and kept open for later ones.
 *
 * Every client can choose the time of its requests: use it only in a test or staging deployment.
 */
export class RequestClocks {
  readonly #client: Client;
  readonly #options: RequestClocksOptions;
  /** Ordered by last use, least recent first. */
  readonly #clocks = new Map<string | null, SharedClock>();
  #isClosed = false;

  constructor(client: Client, options: RequestClocksOptions = {}) {
    this.#client = client;
    this.#options = options;
  }

  /**
   * Serves a request with the clock that its `baggage` header names, or else with the clock of the client's own
   * timeline. `clock()` returns that clock in `handler` and in all work that `handler` starts. It never falls back to the
   * host's time.
   *
   * Rejects with `BaggageError` if the header is invalid, with `TooManyClocksError` if all clocks are in use, or with
   * the error of a clock that cannot be read.
   */
  async serve<T>(header: string | null | undefined, handler: (clock: VirtualClock) => T | Promise<T>): Promise<T> {
    const [current, release] = await this.#take(header);
    try {
      return await CURRENT.run(current, () => handler(current));
    } finally {
      release();
    }
  }

  /**
   * Middleware for Express, Connect and `node:http` servers: `app.use(clocks.middleware)`. It responds with 400 if the
   * timeline is invalid or unknown, and with 503 if the clock cannot be read.
   */
  readonly middleware = (request: IncomingRequest, response: OutgoingResponse, next: () => void): void => {
    const given = request.headers[HEADER];
    this.#take(Array.isArray(given) ? given.join(',') : given).then(
      ([current, release]) => {
        response.once('close', release);
        CURRENT.run(current, next);
      },
      (error: unknown) => {
        const [status, text] = errorResponse(error);
        response.statusCode = status;
        response.setHeader('Content-Type', 'text/plain; charset=utf-8');
        if (status === UNAVAILABLE) response.setHeader('Retry-After', '1');
        response.end(text);
      },
    );
  };

  /** Closes all clocks. Requests in progress can no longer read theirs. */
  close(): void {
    this.#isClosed = true;
    const all = [...this.#clocks.values()];
    this.#clocks.clear();
    for (const { clock: open } of all) open?.close();
  }

  /** Returns the clock of a request, and a function that releases it. */
  async #take(header: string | null | undefined): Promise<[VirtualClock, () => void]> {
    const timeline = timelineIn(header);
    if (timeline !== null && this.#options.allowed?.(timeline) === false) {
      throw new BaggageError(`requests may not use the timeline \`${timeline}\``);
    }
    const shared = this.#find(timeline);
    shared.uses += 1;
    const release = (): void => this.#release(timeline, shared);
    try {
      const current = await shared.opened;
      current.reading();
      return [current, release];
    } catch (error) {
      release();
      if (timeline !== null && error instanceof ApiError && UNKNOWN_TIMELINE.has(error.httpStatus)) {
        throw new BaggageError(`the baggage names the timeline \`${timeline}\`: ${error.status}`, { cause: error });
      }
      throw error;
    }
  }

  #find(timeline: string | null): SharedClock {
    if (this.#isClosed) throw new ClockClosedError('the request clocks are closed');
    let shared = this.#clocks.get(timeline);
    if (shared !== undefined) this.#clocks.delete(timeline);
    if (shared?.clock && hasEnded(shared.clock)) {
      if (shared.uses === 0) shared.clock.close();
      shared = undefined;
    }
    if (shared === undefined) {
      this.#evict();
      shared = this.#open(timeline);
    }
    // Reinsert the entry at the end, because it is now the most recently used one.
    this.#clocks.set(timeline, shared);
    return shared;
  }

  #open(timeline: string | null): SharedClock {
    const { timeoutMs } = this.#options;
    const opened = this.#client.virtualClock(timeline ?? undefined, timeoutMs === undefined ? {} : { timeoutMs });
    const shared: SharedClock = { opened, clock: null, uses: 0 };
    opened.then(
      (open) => {
        shared.clock = open;
        if (this.#clocks.get(timeline) !== shared && shared.uses === 0) open.close();
      },
      () => {
        // Remove the failed clock, so that the next request tries again.
        if (this.#clocks.get(timeline) === shared) this.#clocks.delete(timeline);
      },
    );
    return shared;
  }

  #evict(): void {
    const clocksMax = this.#options.clocksMax ?? CLOCKS_MAX;
    if (this.#clocks.size < clocksMax) return;
    for (const [timeline, shared] of this.#clocks) {
      if (shared.uses > 0 || shared.clock === null) continue;
      this.#clocks.delete(timeline);
      shared.clock.close();
      return;
    }
    throw new TooManyClocksError(`all ${clocksMax} clocks are in use by other requests; try again`);
  }

  #release(timeline: string | null, shared: SharedClock): void {
    shared.uses -= 1;
    if (shared.uses === 0 && this.#clocks.get(timeline) !== shared) shared.clock?.close();
  }
}

/** Returns the status and the body of the response to a request without a usable clock. */
export function errorResponse(error: unknown): [status: number, text: string] {
  if (error instanceof BaggageError) return [BAD_REQUEST, `${error.message}\n`];
  if (error instanceof TooManyClocksError) return [UNAVAILABLE, `${error.message}\n`];
  // Details are for the operator of this service, not for its clients.
  return [UNAVAILABLE, 'the clock of this request cannot be read; try again\n'];
}

/** Returns whether a clock has ended permanently, because its timeline or its API key ended. */
function hasEnded(open: VirtualClock): boolean {
  try {
    open.reading();
  } catch (error) {
    if (error instanceof ClockAccessError || error instanceof ClockClosedError) return true;
    if (!(error instanceof ClockUnavailableError)) throw error;
  }
  return false;
}

function decode(value: string): string {
  const message = `the baggage does not name a valid timeline: \`${MEMBER}=${value}\``;
  let timeline: string;
  try {
    timeline = decodeURIComponent(value);
  } catch (error) {
    throw new BaggageError(`${message} is not percent-encoded UTF-8`, { cause: error });
  }
  if (timeline.trim() === '') {
    throw new BaggageError(`${message} is empty; omit the member, or set it to the id of a timeline`);
  }
  return timeline;
}

/** Splits a text at the first separator. */
function splitOnce(text: string, separator: string): [before: string, after: string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function name(key: string): string {
  return trim(splitOnce(key, ';')[0]);
}

function trim(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '');
}
