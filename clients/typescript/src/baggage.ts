/** The clock that travels with a request, in Node: which timeline it goes by is in its `baggage` header. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client } from './client.js';
import { ClockClosedError, ClockAccessError, ClockUnavailableError, ApiError, TimenavError } from './errors.js';
import type { Instant } from './instant.js';
import type { VirtualClock } from './virtual-clock.js';

/** The name of the header (W3C Baggage). */
export const HEADER = 'baggage';
/** The member of it that names a timeline. */
export const MEMBER = 'timenav';

/** How many clocks are open at once, each a stream of the service: a user may have 100 there by default. */
const CLOCKS_MAX = 64;
/** What the service answers where a timeline is not there, or is not for the key. */
const UNKNOWN: ReadonlySet<number> = new Set([400, 403, 404, 410]);
const BAD_REQUEST = 400;
const UNAVAILABLE = 503;
const HELD = new AsyncLocalStorage<VirtualClock>();

/** The baggage of a request names no timeline that it can go by. Answer it with 400. */
export class BaggageError extends TimenavError {
  override name = 'BaggageError';
}

/** Requests of too many timelines are being served. Answer with 503: it is over soon. */
export class TooManyClocksError extends TimenavError {
  override name = 'TooManyClocksError';
}

/**
 * Returns the timeline that a `baggage` header names, or null if it names none.
 *
 * Throws `BaggageError` where it names two, or what is no name: whoever sent it means another time than the host's.
 */
export function timelineIn(header: string | null | undefined): string | null {
  let found: string | null = null;
  for (const member of (header ?? '').split(',')) {
    const [key, value] = divided(member, '=');
    if (name(key) !== MEMBER) continue;
    const timeline = decoded(trimmed(divided(value, ';')[0]));
    if (found !== null && found !== timeline) {
      throw new BaggageError(`the baggage names two timelines, \`${found}\` and \`${timeline}\`; send one`);
    }
    found = timeline;
  }
  return found;
}

/** Returns a `baggage` header that names a timeline, with what else is in it as it was. */
export function withTimeline(header: string | null | undefined, timelineId: string): string {
  const members = (header ?? '').split(',').map(trimmed);
  const others = members.filter((member) => member !== '' && name(divided(member, '=')[0]) !== MEMBER);
  return [...others, `${MEMBER}=${encodeURIComponent(timelineId)}`].join(',');
}

/**
 * Returns the clock of the request that is being served here. Throws outside a request, rather than showing the host's
 * time.
 */
export function clock(): VirtualClock {
  const held = HELD.getStore();
  if (held === undefined) {
    throw new TimenavError('no request is being served here: serve it with `RequestClocks`');
  }
  return held;
}

/**
 * Returns headers for a request to another service, which goes by the same timeline as the one served here. Outside a
 * request they are returned as they are.
 */
export function outgoing(headers?: ConstructorParameters<typeof Headers>[0]): Headers {
  const sent = new Headers(headers);
  const held = HELD.getStore();
  if (held !== undefined) sent.set(HEADER, withTimeline(sent.get(HEADER), held.timelineId));
  return sent;
}

/** `fetch`, with the timeline of the request that is being served here. */
export function forwardingFetch(input: string | URL | Request, options: RequestInit = {}): Promise<Response> {
  const given = options.headers ?? (input instanceof Request ? input.headers : undefined);
  return fetch(input, { ...options, headers: outgoing(given) });
}

/** What a database is asked by, such as a client of `pg`. */
export interface Database {
  query(statement: string, values: string[]): unknown;
}

/**
 * Makes `timenav_now()` of `timenav sql-clock` show the time of this request, or another moment, until the transaction
 * ends.
 */
export async function setLocal(database: Database, moment: Instant = clock().now()): Promise<void> {
  const text = String(moment);
  const end = text.indexOf('-', 1);
  const year = Number(text.slice(0, end));
  // PostgreSQL knows no year 0 and no sign.
  const sqlTime = year > 0 ? text : `${String(1 - year).padStart(4, '0')}${text.slice(end)} BC`;
  await database.query("SELECT set_config('timenav.now', $1, true)", [sqlTime]);
}

/** How requests get their clocks. */
export interface RequestClocksOptions {
  /** Which timelines requests may name. Defaults to all that the key may see. */
  allowed?: (timelineId: string) => boolean;
  /** How many clocks are open at once. Defaults to 64. */
  clocksMax?: number;
  /** How long to wait for the service to tell a clock. Defaults to 10 seconds. */
  timeoutMs?: number;
}

/** What a middleware needs of a request of Node. */
export interface IncomingRequest {
  headers: Record<string, string | string[] | undefined>;
}

/** What a middleware needs of an answer of Node. */
export interface OutgoingAnswer {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body: string): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** The clock of a timeline. It is being opened as long as `clock` is null. */
interface SharedClock {
  readonly opened: Promise<VirtualClock>;
  clock: VirtualClock | null;
  uses: number;
}

/**
 * The clocks that requests go by: opened for the first request of each timeline, kept for the next ones.
 *
 * Use it where everybody who can send a request may choose its time: in a test or a staging deployment.
 */
export class RequestClocks {
  readonly #client: Client;
  readonly #options: RequestClocksOptions;
  /** The least lately used first. */
  readonly #clocks = new Map<string | null, SharedClock>();
  #isClosed = false;

  constructor(client: Client, options: RequestClocksOptions = {}) {
    this.#client = client;
    this.#options = options;
  }

  /**
   * Serves a request by the clock that its `baggage` header names, else by that of the client's own timeline: while
   * `serve` and what it starts run, `clock()` is that one. It never is the host's.
   *
   * Rejects with `BaggageError`, which is the caller's mistake, `TooManyClocksError`, or what the clock cannot be read for.
   */
  async serving<T>(header: string | null | undefined, serve: (clock: VirtualClock) => T | Promise<T>): Promise<T> {
    const [held, release] = await this.#take(header);
    try {
      return await HELD.run(held, () => serve(held));
    } finally {
      release();
    }
  }

  /**
   * Middleware for Express, Connect and servers of `node:http`: `app.use(clocks.middleware)`. A header that names no
   * timeline, or none that there is, is answered with 400. If the clock cannot be read, the answer is 503.
   */
  readonly middleware = (request: IncomingRequest, answer: OutgoingAnswer, next: () => void): void => {
    const given = request.headers[HEADER];
    this.#take(Array.isArray(given) ? given.join(',') : given).then(
      ([held, release]) => {
        answer.once('close', release);
        HELD.run(held, next);
      },
      (error: unknown) => {
        const [status, text] = refused(error);
        answer.statusCode = status;
        answer.setHeader('Content-Type', 'text/plain; charset=utf-8');
        if (status === UNAVAILABLE) answer.setHeader('Retry-After', '1');
        answer.end(text);
      },
    );
  };

  /** Closes all clocks. Requests that are being served can read theirs no more. */
  close(): void {
    this.#isClosed = true;
    const all = [...this.#clocks.values()];
    this.#clocks.clear();
    for (const { clock: open } of all) open?.close();
  }

  /** Returns the clock of a request, and what ends its use. */
  async #take(header: string | null | undefined): Promise<[VirtualClock, () => void]> {
    const timeline = timelineIn(header);
    if (timeline !== null && this.#options.allowed?.(timeline) === false) {
      throw new BaggageError(`requests may not go by the timeline \`${timeline}\``);
    }
    const shared = this.#find(timeline);
    shared.uses += 1;
    const release = (): void => this.#release(timeline, shared);
    try {
      const held = await shared.opened;
      held.reading();
      return [held, release];
    } catch (error) {
      release();
      if (timeline !== null && error instanceof ApiError && UNKNOWN.has(error.httpStatus)) {
        throw new BaggageError(`the baggage names the timeline \`${timeline}\`: ${error.status}`, { cause: error });
      }
      throw error;
    }
  }

  #find(timeline: string | null): SharedClock {
    if (this.#isClosed) throw new ClockClosedError('the clocks of requests were closed');
    let shared = this.#clocks.get(timeline);
    if (shared !== undefined) this.#clocks.delete(timeline);
    if (shared?.clock && isOver(shared.clock)) {
      if (shared.uses === 0) shared.clock.close();
      shared = undefined;
    }
    if (shared === undefined) {
      this.#makeRoom();
      shared = this.#open(timeline);
    }
    // The last one is the one that was used last.
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
        // The next request tries again.
        if (this.#clocks.get(timeline) === shared) this.#clocks.delete(timeline);
      },
    );
    return shared;
  }

  #makeRoom(): void {
    const most = this.#options.clocksMax ?? CLOCKS_MAX;
    if (this.#clocks.size < most) return;
    for (const [timeline, shared] of this.#clocks) {
      if (shared.uses > 0 || shared.clock === null) continue;
      this.#clocks.delete(timeline);
      shared.clock.close();
      return;
    }
    throw new TooManyClocksError(`requests of ${most} timelines are being served; try again`);
  }

  #release(timeline: string | null, shared: SharedClock): void {
    shared.uses -= 1;
    if (shared.uses === 0 && this.#clocks.get(timeline) !== shared) shared.clock?.close();
  }
}

/** Returns the status and the text that a request is answered with if there is no clock for it. */
export function refused(error: unknown): [status: number, text: string] {
  if (error instanceof BaggageError) return [BAD_REQUEST, `${error.message}\n`];
  if (error instanceof TooManyClocksError) return [UNAVAILABLE, `${error.message}\n`];
  // What is wrong is for who runs this service, and not for who asked.
  return [UNAVAILABLE, 'the clock of this request cannot be read; try again\n'];
}

/** Tells whether a clock will never show a time again, because its timeline ended or its key did. */
function isOver(open: VirtualClock): boolean {
  try {
    open.reading();
  } catch (error) {
    if (error instanceof ClockAccessError || error instanceof ClockClosedError) return true;
    if (!(error instanceof ClockUnavailableError)) throw error;
  }
  return false;
}

function decoded(value: string): string {
  const wrong = `the baggage names no timeline: \`${MEMBER}=${value}\``;
  let timeline: string;
  try {
    timeline = decodeURIComponent(value);
  } catch (error) {
    throw new BaggageError(`${wrong} is not percent-encoded UTF-8`, { cause: error });
  }
  if (timeline.trim() === '') {
    throw new BaggageError(`${wrong} is empty; leave it out, or write \`${MEMBER}=\` and the id of a timeline`);
  }
  return timeline;
}

/** Returns what is before a sign and what is behind it. */
function divided(text: string, sign: string): [before: string, behind: string] {
  const at = text.indexOf(sign);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}

function name(key: string): string {
  return trimmed(divided(key, ';')[0]);
}

function trimmed(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '');
}
