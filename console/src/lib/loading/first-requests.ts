/**
 * What every page asks the service first. A small script of its own (`first.ts`) asks it while the files of the console
 * are still on their way; who asks for the same then gets that answer.
 */
import { address } from '../service/base';

/** So many timelines are read at once. */
export const TIMELINES_ITEMS = 1_000;

/** For so long, in milliseconds, an answer that nobody took may stand for one that is asked for now. */
const FIRST_FRESH_MS = 30_000;

export const FIRST_SESSION = 'v1/session';
export const FIRST_TIMELINES = `timelines?limit=${TIMELINES_ITEMS}`;

/** An answer, and when it came, by the clock of this browser. */
export interface FirstAnswer {
  response: Response;
  atMs: number;
}

declare global {
  var timenavFirst: Map<string, Promise<FirstAnswer>> | undefined;
}

/** Asks before anybody wants to know; where it is not known yet whether to ask, once that is. */
export function askFirst(path: string, mayAsk: Promise<boolean> | null = null): Promise<FirstAnswer> {
  const url = address(path);
  const init: RequestInit = { headers: { Accept: 'application/json' }, credentials: 'same-origin', cache: 'no-store' };
  const requests = (globalThis.timenavFirst ??= new Map());
  const ask = async (): Promise<FirstAnswer> => {
    if (mayAsk !== null && !(await mayAsk)) throw new Error('not asked');
    return { response: await fetch(url, init), atMs: Date.now() };
  };
  const asking = ask();
  requests.set(url, asking);
  const forget = (): void => void (requests.get(url) === asking && requests.delete(url));
  // Who comes later asks anew.
  asking.then(() => setTimeout(forget, FIRST_FRESH_MS), forget);
  return asking;
}

/** Returns the answer to what was asked before, once; null where that was not asked. */
export function takeFirst(method: string, url: string): Promise<FirstAnswer> | null {
  const request = method === 'GET' ? globalThis.timenavFirst?.get(url) : undefined;
  if (request === undefined) return null;
  globalThis.timenavFirst?.delete(url);
  return request;
}
