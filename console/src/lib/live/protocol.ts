/**
 * What a page and the hub that holds its connections say to each other. The hub is a SharedWorker, so that all tabs
 * share the few connections that a browser opens to one host; where there is none, it is in the page.
 */

/** How a line to the service is doing. `waiting` rests until another one ends; `refused` is not asked again. */
export type LineState = 'connecting' | 'open' | 'lost' | 'waiting' | 'refused';

/** What a page says. */
export type ToHub =
  /**
   * These addresses, and no others; none while the page is hidden. A line that ended because the service did not know
   * who asks is tried again.
   */
  | { kind: 'want'; urls: string[] }
  /** Somebody uses the page: its lines go before those of pages that nobody touches. */
  | { kind: 'used' }
  /** The page holds this lock of the browser as long as it lives. */
  | { kind: 'lock'; name: string };

/** What the hub says. */
export type ToPage =
  /**
   * `open` is repeated with each sign of life of the service. `hasGap`: what happened before may have been told to
   * nobody here, so what is open from now on is not the whole.
   */
  | { kind: 'state'; url: string; state: LineState; hasGap: boolean }
  /** The service does not know who asks. */
  | { kind: 'stranger'; url: string }
  | { kind: 'message'; url: string; message: Message };

export interface Message {
  /** Name of the event, such as `clock`. */
  event: string;
  data: unknown;
  /** Whether this is how things stood when the line began, and no change. */
  isFirst: boolean;
  /** How long ago it came. */
  ageMs: number;
}
