/** The retry policy of requests. */

/** The outcome of an attempt: the request was not sent, no response arrived, or the HTTP status of the response. */
export type Outcome = 'not_sent' | 'no_response' | number;

export interface RetryPolicy {
  /** The maximum number of attempts; 1 disables retries. */
  readonly attempts: number;
  /** The maximum total wait, in seconds. If `Retry-After` exceeds it, the response is returned at once. */
  readonly waitSecondsMax: number;
}

export const RETRY_POLICY_DEFAULT: RetryPolicy = { attempts: 4, waitSecondsMax: 30 };
const DELAY_FIRST = 0.1;
const DELAY_MAX = 5;

/** The input of a retry decision. */
export interface Attempt {
  /** The number of the attempt, from 1. */
  attempt: number;
  outcome: Outcome;
  /** Whether it is safe to send the request twice: it only reads, or carries an idempotency key. */
  isRepeatable: boolean;
  retryAfterSeconds: number | null;
  /** The total wait so far, in seconds. */
  waitedSeconds: number;
}

/** Returns the wait before the next attempt, in seconds; null if there is no further attempt. */
export function waitSeconds(retries: RetryPolicy, attemptMade: Attempt): number | null {
  const { attempt, outcome, isRepeatable, retryAfterSeconds, waitedSeconds } = attemptMade;
  // The request had no effect: it was not sent, or was rejected because of a quota or an overload.
  const hadNoEffect = outcome === 'not_sent' || outcome === 429 || outcome === 503;
  // The change may have taken effect; the response was lost here or in a proxy.
  const wasLost = outcome === 'no_response' || outcome === 502 || outcome === 504;
  if (attempt >= retries.attempts || !(hadNoEffect || (isRepeatable && wasLost))) return null;
  const wait = retryAfterSeconds ?? jittered(Math.min(DELAY_FIRST * 2 ** (attempt - 1), DELAY_MAX));
  return waitedSeconds + wait <= retries.waitSecondsMax ? wait : null;
}

/** Returns 0.5 to 1.5 times a delay, at random, so that clients that failed together do not retry together. */
export function jittered(delay: number): number {
  return delay * (0.5 + Math.random());
}

/** Parses a `Retry-After` header: seconds, or an HTTP date. */
export function retryAfterSeconds(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d+$/.test(text.trim())) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max((at - Date.now()) / 1_000, 0);
}
