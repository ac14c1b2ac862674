/** Access to the service: the TypeScript client, the console's additions and error texts. */
import { Calls } from '../../../../clients/typescript/src/calls';
import { ApiError, ApiConnectionError } from '../../../../clients/typescript/src/errors';
import { OPERATIONS } from '../../../../clients/typescript/src/operations';
import { Settings, type PlainInit } from '../../../../clients/typescript/src/settings';
import type { Output, OperationName } from '../../../../clients/typescript/src/operation-types';
import { readJson, rejection, type CallOptions } from '../../../../clients/typescript/src/transport';
import { address, type Query } from './base';
import { takeEarlyResponse } from '../loading/first-requests';
import { syncHostClock } from '../time/host-clock';
import { beginRequest } from '../loading/network-idle';
import { reach } from './reach.svelte';

export { ApiError, ApiConnectionError, readJson, rejection };
export type { ErrorCode } from '../../../../clients/typescript/src/error-codes';
export type { Output, Input, Schema } from '../../../../clients/typescript/src/operation-types';

/** Exceeds any response time of the service. Callers abort earlier if they need to. */
const ANSWER_MS_MAX = 600_000;

/** The listener for a session that is no longer valid. */
export const logout = { listener: (): void => {} };

/** Sends a request with the session cookie and tracks whether the service is reachable. */
async function fetchTracked(path: string, url: string, init: RequestInit): Promise<Response> {
  let response: Response;
  let atMs: number | undefined;
  const endRequest = beginRequest();
  const preserved = path.endsWith('logout') ? Object.entries<string>(localStorage) : [];
  try {
    const early = takeEarlyResponse(init.method ?? 'GET', url);
    if (early === null) response = await fetch(url, { ...init, credentials: 'same-origin', cache: 'no-store' });
    else ({ response, atMs } = await early);
  } catch (error) {
    if (!isAborted(error)) reach.failed();
    throw error;
  } finally {
    endRequest();
  }
  // The logout response clears the site's storage (`Clear-Site-Data`). The console's data there, such as saved views
  // and the theme, is not secret and is kept for the next login.
  for (const [key, value] of preserved) localStorage.setItem(key, value);
  reach.worked();
  syncHostClock(response.headers.get('Date'), atMs);
  if (response.status === 401 && !path.endsWith('/login')) logout.listener();
  return response;
}

/** Client settings for the service that serves this page. */
class PageSettings extends Settings {
  constructor() {
    // No automatic retries: the page shows the error and retries when the service is reachable again.
    super({ baseUrl: 'http://localhost', session: true, timeoutMs: ANSWER_MS_MAX, retries: { attempts: 1 } });
  }

  override send(path: string, init: PlainInit): Promise<Response> {
    return fetchTracked(path, address(path), init);
  }
}

/** All operations of the service. */
export class Service extends Calls {
  protected override async json<Name extends OperationName>(
    name: Name,
    input: object,
    options: CallOptions,
  ): Promise<Output<Name>> {
    const endRequest = beginRequest();
    try {
      return await super.json(name, OPERATIONS[name].method === 'GET' ? withoutEmpty(input) : input, options);
    } finally {
      endRequest();
    }
  }
}

/** Removes empty fields from a request. */
function withoutEmpty(input: object): object {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== ''));
}

/** The client for the logged-in user. */
export const service: Calls = new Service(new PageSettings());

interface SendOptions {
  query?: Query;
  body?: unknown;
  signal?: AbortSignal;
  headers?: Record<string, string>;
}

/** Sends a request outside the client's operations and returns the raw response, whatever its status. */
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
    return await fetchTracked(path, address(path, options.query), init);
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new ApiConnectionError('no response received');
  }
}

/** Returns the validation error of a field, or null. */
export function fieldErrorOf(error: unknown, field: string): string | null {
  const detail =
    error instanceof ApiError ? error.errors.find((fieldError) => fieldError.field === field)?.detail : undefined;
  return detail ? capital(detail) : null;
}

/** Returns an error as a sentence for the user. */
export function sentence(error: unknown): string {
  if (error instanceof ApiConnectionError)
    return 'The service cannot be reached. Check that it is running, then try again.';
  if (error instanceof ApiError) {
    const detail = error.detail ? capital(error.detail) : '';
    // Some details repeat the title.
    return detail === '' || detail === error.status ? error.status : `${error.status} ${detail}`;
  }
  return error instanceof Error ? error.message : String(error);
}

/** Returns an error detail as a complete sentence. */
export function capital(text: string): string {
  const end = /[.!?]$/.test(text) ? '' : '.';
  return text.charAt(0).toUpperCase() + text.slice(1) + end;
}

/** Whether an error is an intentional abort. */
export function isAborted(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}
