/** Which requests are sent again, and when. */

/** What came of a request: it was never sent, no answer came, or an HTTP status. */
export type Outcome = 'not_sent' | 'no_answer' | number;

export interface Retries {
  /** How often a request is sent in all; 1 sends nothing again. */
  readonly attempts: number;
  /** How long all of its waiting may take. Where the service asks for more, its answer is given to you at once. */
  readonly waitSecondsMax: number;
}

export const RETRIES: Retries = { attempts: 4, waitSecondsMax: 30 };
const DELAY_FIRST = 0.1;
const DELAY_MAX = 5;

/** What is to be decided. */
export interface Attempt {
  /** From 1. */
  attempt: number;
  outcome: Outcome;
  /** Whether sending it twice does no more than sending it once: it only looks, or carries an idempotency key. */
  isRepeatable: boolean;
  retryAfterSeconds: number | null;
  /** How long was waited so far. */
  waitedSeconds: number;
}

/** Returns how many seconds to wait before the next attempt; null where there is none. */
export function waitSeconds(retries: Retries, attemptMade: Attempt): number | null {
  const { attempt, outcome, isRepeatable, retryAfterSeconds, waitedSeconds } = attemptMade;
  // Refused before anything was done: by its quota, for want of room, or because it could not be written.
  const wasNotProcessed = outcome === 'not_sent' || outcome === 429 || outcome === 503;
  // It may have happened, and the answer was lost, here or in a proxy.
  const wasLost = outcome === 'no_answer' || outcome === 502 || outcome === 504;
  if (attempt >= retries.attempts || !(wasNotProcessed || (isRepeatable && wasLost))) return null;
  const wait = retryAfterSeconds ?? jittered(Math.min(DELAY_FIRST * 2 ** (attempt - 1), DELAY_MAX));
  return waitedSeconds + wait <= retries.waitSecondsMax ? wait : null;
}

/** Returns half to one and a half of a delay, so that those who failed together do not come back together. */
export function jittered(delay: number): number {
  return delay * (0.5 + Math.random());
}

/** Reads a `Retry-After` header: seconds, or an HTTP date. */
export function retryAfterSeconds(text: string | null): number | null {
  if (text === null) return null;
  if (/^\d+$/.test(text.trim())) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max((at - Date.now()) / 1_000, 0);
}
