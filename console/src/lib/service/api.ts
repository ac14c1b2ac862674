/**
 * The way to the service: its client for TypeScript, what the console adds to it, and sentences for what went wrong.
 */
import { Calls } from '../../../../clients/typescript/src/calls';
import { ApiError, ApiConnectionError } from '../../../../clients/typescript/src/errors';
import { OPERATIONS } from '../../../../clients/typescript/src/operations';
import { Settings, type PlainInit } from '../../../../clients/typescript/src/settings';
import type { Answer, OperationName } from '../../../../clients/typescript/src/shapes';
import { readJson, rejection, type CallOptions } from '../../../../clients/typescript/src/transport';
import { address, type Query } from './base';
import { takeFirst } from '../loading/first-requests';
import { syncHostClock } from '../time/host-clock';
import { beginRequest } from '../loading/quiet';
import { reach } from './reach.svelte';

export { ApiError, ApiConnectionError, readJson, rejection };
export type { ErrorCode } from '../../../../clients/typescript/src/error-codes';
export type { Answer, Input, Schema } from '../../../../clients/typescript/src/shapes';

/** Longer than any answer takes; what is given up earlier is given up by who asked. */
const ANSWER_MS_MAX = 600_000;

type Listener = () => void;
let whenLoggedOut: Listener = () => {};

/** Sets what is done when the service no longer knows who asks. */
export function onLoggedOut(listener: Listener): void {
  whenLoggedOut = listener;
}

/** Sends a request with the session of who is logged in, and notes whether the service can be reached. */
async function fetched(path: string, url: string, init: RequestInit): Promise<Response> {
  let answer: Response;
  let atMs: number | undefined;
  const answered = beginRequest();
  const preserved = path.endsWith('logout') ? Object.entries<string>(localStorage) : [];
  try {
    const early = takeFirst(init.method ?? 'GET', url);
    if (early === null) answer = await fetch(url, { ...init, credentials: 'same-origin', cache: 'no-store' });
    else ({ response: answer, atMs } = await early);
  } catch (error) {
    if (!isAborted(error)) reach.failed();
    throw error;
  } finally {
    answered();
  }
  // The response to a log-out clears the storage of the site (`Clear-Site-Data`). What the console keeps there, such as
  // saved views and the theme, is not secret, and stays for the next login.
  for (const [key, value] of preserved) localStorage.setItem(key, value);
  reach.worked();
  syncHostClock(answer.headers.get('Date'), atMs);
  if (answer.status === 401 && !path.endsWith('/login')) whenLoggedOut();
  return answer;
}

/** The service that this page comes from. */
class PageSettings extends Settings {
  constructor() {
    // Nothing is sent again by itself: a page says what went wrong, and asks anew when the service is back.
    super({ baseUrl: 'http://localhost', session: true, timeoutMs: ANSWER_MS_MAX, retries: { attempts: 1 } });
  }

  override send(path: string, init: PlainInit): Promise<Response> {
    return fetched(path, address(path), init);
  }
}

/** Every operation of the service. */
class Service extends Calls {
  protected override async json<Name extends OperationName>(
    name: Name,
    input: object,
    options: CallOptions,
  ): Promise<Answer<Name>> {
    const answered = beginRequest();
    try {
      return await super.json(name, OPERATIONS[name].method === 'GET' ? withoutEmpty(input) : input, options);
    } finally {
      answered();
    }
  }
}

/** Returns what is asked for without fields that were left empty. */
function withoutEmpty(input: object): object {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== ''));
}

/** Asks for whoever is logged in. */
export const service: Calls = new Service(new PageSettings());

/** Returns the service as it is asked with an API key. */
export function serviceWithKey(key: string): Calls {
  return new Service(
    new Settings({ baseUrl: new URL('.', document.baseURI).href, apiKey: key, retries: { attempts: 1 } }),
  );
}

interface SendOptions {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

/** Sends a request that is no call of the client, and returns the answer as it comes, whatever its status. */
export async function send(method: string, path: string, options: SendOptions = {}): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json', ...options.headers };
  const init: RequestInit = { method, headers };
  if (options.signal) init.signal = options.signal;
  if (options.body !== undefined) {
    headers['Content-Type'] ??= 'application/json';
    init.body =
      typeof options.body === 'string' || options.body instanceof Blob ? options.body : JSON.stringify(options.body);
  }
  try {
    return await fetched(path, address(path, options.query), init);
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new ApiConnectionError('no response received');
  }
}

/** Returns the description of the whole API. */
export async function readDocument<T>(): Promise<T> {
  const answer = await send('GET', 'openapi.json');
  if (!answer.ok) throw await rejection(answer);
  return readJson<T>(answer);
}

interface UploadOptions {
  query?: Query;
  type: string;
  /** How the file is packed; the service unpacks it as it arrives. */
  encoding?: string | null;
  signal: AbortSignal;
  /** Told how many bytes are on their way. */
  onsent: (bytes: number) => void;
}

/**
 * Sends a file as the body of a request, and returns the body of the answer, or throws a `ApiError`. The browser reads
 * the file as it sends it, and tells how far it is: `fetch` does not.
 */
export function upload<T>(path: string, file: Blob, options: UploadOptions): Promise<T> {
  const { query, type, encoding, signal, onsent } = options;
  return new Promise<T>((done, failed) => {
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    request.open('POST', address(path, query));
    request.setRequestHeader('Accept', 'application/json');
    request.setRequestHeader('Content-Type', type);
    if (encoding) request.setRequestHeader('Content-Encoding', encoding);
    request.upload.onprogress = (event) => onsent(event.loaded);
    request.onabort = () => failed(new DOMException('The upload was canceled.', 'AbortError'));
    request.onerror = () => failed(new ApiConnectionError('no response received'));
    request.onload = () => {
      if (request.status === 401) whenLoggedOut();
      const headers = new Headers();
      for (const name of ['Retry-After', 'X-Request-Id']) {
        const value = request.getResponseHeader(name);
        if (value !== null) headers.set(name, value);
      }
      const answer = new Response(request.responseText, { status: request.status, headers });
      if (answer.ok) readJson<T>(answer).then(done, failed);
      else rejection(answer).then(failed, failed);
    };
    request.onloadend = () => signal.removeEventListener('abort', abort);
    if (signal.aborted) failed(new DOMException('The upload was canceled.', 'AbortError'));
    else {
      signal.addEventListener('abort', abort);
      request.send(file);
    }
  });
}

/** Returns what the service found wrong with a field, or null. */
export function wrongWith(error: unknown, field: string): string | null {
  const detail = error instanceof ApiError ? error.errors.find((one) => one.field === field)?.detail : undefined;
  return detail ? capital(detail) : null;
}

/** Returns a sentence for whatever was thrown. */
export function sentence(error: unknown): string {
  if (error instanceof ApiConnectionError)
    return 'The service cannot be reached. Check that it is running, then try again.';
  if (error instanceof ApiError) {
    const detail = error.detail ? capital(error.detail) : '';
    // Some details only repeat the sentence.
    return detail === '' || detail === error.status ? error.status : `${error.status} ${detail}`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Returns what the service says of a detail as a sentence of its own. */
export function capital(text: string): string {
  const end = /[.!?]$/.test(text) ? '' : '.';
  return text.charAt(0).toUpperCase() + text.slice(1) + end;
}

/** Tells whether a request was given up on purpose. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
