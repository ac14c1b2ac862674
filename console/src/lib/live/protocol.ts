/**
 * Messages between a page and the hub that holds its connections. The hub is a SharedWorker so that all tabs share the
 * few connections per host. Without SharedWorker support, it runs in the page.
 */

/** State of a stream. `waiting` has no connection until another stream ends; `rejected` is not retried. */
export type LineState = 'connecting' | 'open' | 'lost' | 'waiting' | 'rejected';

/** Messages from a page. */
export type ToHub =
  /**
   * The complete set of URLs; empty while the page is hidden. A stream that was rejected as unauthenticated is retried.
   */
  | { kind: 'subscribe'; urls: string[] }
  /** The page is in use, which gives its streams priority. */
  | { kind: 'used' }
  /** The page holds this browser lock until it closes. */
  | { kind: 'lock'; name: string };

/** Messages from the hub. */
export type ToPage =
  /**
   * `open` is repeated with each heartbeat. `hasGap`: earlier messages may be missing, so a full reload of the data is
   * necessary.
   */
  | { kind: 'state'; url: string; state: LineState; hasGap: boolean }
  /** The service rejected the session. */
  | { kind: 'unauthenticated'; url: string }
  | { kind: 'message'; url: string; message: Message };

export interface Message {
  /** Name of the event, such as `clock`. */
  event: string;
  data: unknown;
  /** Whether this is the initial state, not a change. */
  isFirst: boolean;
  /** Time since the hub received it. */
  ageMs: number;
}
