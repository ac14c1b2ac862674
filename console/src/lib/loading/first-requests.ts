/**
 * Requests that every page needs. A small script (`first.ts`) sends them while the console loads; the console then uses
 * these responses.
 */
import { address } from '../service/base';

/** Page size for timelines. */
export const TIMELINES_ITEMS = 1_000;

/** Time in milliseconds for which an early response may be used. */
const FIRST_FRESH_MS = 30_000;

export const FIRST_SESSION = 'v1/session';
export const FIRST_TIMELINES = `timelines?limit=${TIMELINES_ITEMS}`;

/** A response and its arrival time by the browser's clock. */
export interface EarlyResponse {
  response: Response;
  atMs: number;
}

declare global {
  var timenavFirst: Map<string, Promise<EarlyResponse>> | undefined;
}

/** Sends a request early, or once `isAllowed` resolves to true. */
export function sendEarly(path: string, isAllowed: Promise<boolean> | null = null): Promise<EarlyResponse> {
  const url = address(path);
  const init: RequestInit = { headers: { Accept: 'application/json' }, credentials: 'same-origin', cache: 'no-store' };
  const requests = (globalThis.timenavFirst ??= new Map());
  const send = async (): Promise<EarlyResponse> => {
    if (isAllowed !== null && !(await isAllowed)) throw new Error('not allowed');
    return { response: await fetch(url, init), atMs: Date.now() };
  };
  const request = send();
  requests.set(url, request);
  const forget = (): void => void (requests.get(url) === request && requests.delete(url));
  // Later callers send a new request.
  request.then(() => setTimeout(forget, FIRST_FRESH_MS), forget);
  return request;
}

/** Returns the early response to a request, once; null if there is none. */
export function takeEarlyResponse(method: string, url: string): Promise<EarlyResponse> | null {
  const request = method === 'GET' ? globalThis.timenavFirst?.get(url) : undefined;
  if (request === undefined) return null;
  globalThis.timenavFirst?.delete(url);
  return request;
}
