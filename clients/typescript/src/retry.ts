/** The retry policy of requests, and the delays between attempts to reconnect. */
import { ApiError } from './errors.js';

/** The outcome of an attempt: the request was not sent, no response arrived, or the HTTP status of the response. */
export type Outcome = 'not_sent' | 'no_response' | number;

/** How often to send a request, and how long to wait in total. */
export interface RetryPolicy {
  /** The maximum number of attempts; 1 disables retries. Defaults to 4. */
  readonly attempts: number;
  /**
   * The maximum total wait, in milliseconds. If `Retry-After` exceeds it, the response is returned at once. Defaults to
   * 30 seconds.
   */
  readonly waitMsMax: number;
}

export const RETRY_POLICY_DEFAULT: RetryPolicy = { attempts: 4, waitMsMax: 30_000 };
const DELAY_MS_FIRST = 100;
const DELAY_MS_MAX = 5_000;
/** HTTP statuses of permanent failures. All other failures may be temporary. */
const FINAL: ReadonlySet<number> = new Set([400, 401, 403, 404, 409, 410]);

/** The input of a retry decision. */
export interface Attempt {
  /** The number of the attempt, from 1. */
  attempt: number;
  outcome: Outcome;
  /** Whether it is safe to send the request twice: it only reads, or carries an idempotency key. */
  isRepeatable: boolean;
  retryAfterSeconds: number | null;
  /** The total wait so far, in milliseconds. */
  waitedMs: number;
}

/** Returns the wait before the next attempt, in milliseconds; null if there is no further attempt. */
export function waitMs(retries: RetryPolicy, attemptMade: Attempt): number | null {
  const { attempt, outcome, isRepeatable, retryAfterSeconds, waitedMs } = attemptMade;
  // The request had no effect: it was not sent, or was rejected because of a quota or an overload.
  const hadNoEffect = outcome === 'not_sent' || outcome === 429 || outcome === 503;
  // The change may have taken effect; the response was lost here or in a proxy.
  const wasLost = outcome === 'no_response' || outcome === 502 || outcome === 504;
  if (attempt >= retries.attempts || !(hadNoEffect || (isRepeatable && wasLost))) return null;
  const delayMs = Math.min(DELAY_MS_FIRST * 2 ** (attempt - 1), DELAY_MS_MAX);
  const wait = retryAfterSeconds === null ? jittered(delayMs) : retryAfterSeconds * 1_000;
  return waitedMs + wait <= retries.waitMsMax ? wait : null;
}

/** The waits between attempts to reopen a stream or to claim firings: 0.1 to 5 seconds, or `Retry-After`. */
export class Backoff {
  #delayMs = DELAY_MS_FIRST;

  /** Returns the wait after a failed attempt, in milliseconds. */
  nextMs(failure: unknown): number {
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(delayMs * 2, DELAY_MS_MAX);
    const after = failure instanceof ApiError ? failure.retryAfterSeconds : null;
    return after === null ? jittered(delayMs) : after * 1_000;
  }

  /** Starts again with the shortest wait. */
  reset(): void {
    this.#delayMs = DELAY_MS_FIRST;
  }
}

/** Returns whether a failure is permanent. */
export function isFinal(failure: unknown): failure is ApiError {
  return failure instanceof ApiError && FINAL.has(failure.httpStatus);
}

/** Returns 0.5 to 1.5 times a delay, at random, so that clients that failed together do not retry together. */
function jittered(delay: number): number {
  return delay * (0.5 + Math.random());
}

/** Parses a `Retry-After` header: seconds, or an HTTP date. */
export function retryAfterSeconds(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d+$/.test(text.trim())) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max((at - Date.now()) / 1_000, 0);
}
