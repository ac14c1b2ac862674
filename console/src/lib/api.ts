/**
 * The way to the service: one function for all operations, one type for all refusals.
 */
import { address, type Query } from './base';
import { asked } from './quiet';
import { reach } from './reach.svelte';

/** One field that the service found wrong. */
interface FieldError {
  /** A JSON pointer as a fragment, such as `#/destination_time`. */
  pointer: string;
  code: string;
  detail: string;
}

/** A request that was refused, could not be sent, or was answered with something else than JSON. */
export class Problem extends Error {
  override name = 'Problem';

  constructor(
    /** The HTTP status; 0 where no answer came. */
    readonly httpStatus: number,
    /** The stable code, such as `permission_denied`; `unreachable` where no answer came. */
    readonly code: string,
    /** What happened, in a sentence. */
    readonly sentence: string,
    /** What would be right. */
    readonly detail: string,
    readonly errors: FieldError[] = [],
    readonly requestId: string | null = null,
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(sentence);
  }

  /** Returns what is wrong with one field, or null. */
  field(name: string): string | null {
    const detail = this.errors.find((error) => error.pointer === `#/${name}`)?.detail;
    return detail ? capital(detail) : null;
  }
}

/** What a request may carry. */
interface CallOptions {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

export type Method = 'GET' | 'POST' | 'DELETE';

type Listener = () => void;
let whenLoggedOut: Listener = () => {};

/** Sets what is done when the service no longer knows who asks. */
export function onLoggedOut(listener: Listener): void {
  whenLoggedOut = listener;
}

/** Calls an operation and returns the body of its answer, or throws a `Problem`. */
export async function call<T>(method: Method, path: string, options: CallOptions = {}): Promise<T> {
  const answered = asked();
  try {
    const answer = await send(method, path, options);
    const body = await json(answer);
    if (!answer.ok) throw problem(answer, body);
    return body as T;
  } finally {
    answered();
  }
}

/** Sends a request and returns the answer as it comes, whatever its status. */
export async function send(method: string, path: string, options: CallOptions = {}): Promise<Response> {
  const headers: Record<string, string> = { Accept: 'application/json', ...options.headers };
  const init: RequestInit = { method, headers, credentials: 'same-origin', cache: 'no-store' };
  if (options.signal) init.signal = options.signal;
  if (options.body !== undefined) {
    headers['Content-Type'] ??= 'application/json';
    init.body =
      typeof options.body === 'string' || options.body instanceof Blob ? options.body : JSON.stringify(options.body);
  }
  let answer: Response;
  const answered = asked();
  try {
    answer = await fetch(address(path, options.query), init);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    reach.failed();
    throw unreachable();
  } finally {
    answered();
  }
  reach.worked();
  if (answer.status === 401 && !path.endsWith('/log-in')) whenLoggedOut();
  return answer;
}

async function json(answer: Response): Promise<unknown> {
  const text = await answer.text();
  try {
    return text === '' ? {} : JSON.parse(text);
  } catch {
    if (answer.ok) throw new Problem(answer.status, 'unreadable', 'The response is not JSON.', text.slice(0, 200));
    return {};
  }
}

function unreachable(): Problem {
  return new Problem(0, 'unreachable', 'The service cannot be reached.', 'Check that it is running, then try again.');
}

interface UploadOptions {
  query?: Query;
  type: string;
  signal: AbortSignal;
  /** Told how many bytes are on their way. */
  onsent: (bytes: number) => void;
}

/**
 * Sends a file as the body of a request, and returns the body of the answer, or throws a `Problem`. The browser reads
 * the file as it sends it, and tells how far it is: `fetch` does not.
 */
export function upload<T>(path: string, file: Blob, options: UploadOptions): Promise<T> {
  const { query, type, signal, onsent } = options;
  return new Promise<T>((done, failed) => {
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    request.open('POST', address(path, query));
    request.setRequestHeader('Accept', 'application/json');
    request.setRequestHeader('Content-Type', type);
    request.upload.onprogress = (event) => onsent(event.loaded);
    request.onabort = () => failed(new DOMException('The upload was cancelled.', 'AbortError'));
    request.onerror = () => failed(unreachable());
    request.onload = () => {
      if (request.status === 401) whenLoggedOut();
      const headers = new Headers();
      for (const name of ['Retry-After', 'X-Request-Id']) {
        const value = request.getResponseHeader(name);
        if (value !== null) headers.set(name, value);
      }
      const answer = new Response(request.responseText, { status: request.status, headers });
      json(answer).then((body) => (answer.ok ? done(body as T) : failed(problem(answer, body))), failed);
    };
    request.onloadend = () => signal.removeEventListener('abort', abort);
    if (signal.aborted) failed(new DOMException('The upload was cancelled.', 'AbortError'));
    else {
      signal.addEventListener('abort', abort);
      request.send(file);
    }
  });
}

/** Reads a refusal out of an answer. */
export function problem(answer: Response, body: unknown): Problem {
  const told = (body ?? {}) as Record<string, unknown>;
  const text = (name: string, otherwise: string): string => {
    const value = told[name];
    return typeof value === 'string' ? value : otherwise;
  };
  const after = Number(answer.headers.get('Retry-After') ?? NaN);
  return new Problem(
    answer.status,
    text('code', `http_${answer.status}`),
    text('status', `The service returned ${answer.status}.`),
    text('detail', ''),
    Array.isArray(told.errors) ? (told.errors as FieldError[]) : [],
    text('request_id', '') || answer.headers.get('X-Request-Id'),
    Number.isFinite(after) ? after : null,
  );
}

/** Returns a sentence for whatever was thrown. */
export function sentence(error: unknown): string {
  if (error instanceof Problem) {
    const detail = error.detail ? capital(error.detail) : '';
    // Some details only repeat the sentence.
    return detail === '' || detail === error.sentence ? error.sentence : `${error.sentence} ${detail}`;
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
