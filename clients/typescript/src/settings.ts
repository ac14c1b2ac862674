/** The settings of a client, from options or from the environment variables of the command line. */
import { SettingsError } from './errors.js';
import { RETRY_POLICY_DEFAULT, type RetryPolicy } from './retry.js';

/** Options of a client. */
export interface ClientOptions {
  /** The address of the service. Defaults to `TIMENAV_URL`, or else `http://127.0.0.1:8080`. */
  baseUrl?: string;
  /** The API key. Defaults to `TIMENAV_API_KEY`. */
  apiKey?: string;
  /** Authenticates with the session of the logged-in user instead of a key, in a page that the service serves. */
  session?: boolean;
  /** The default timeline of calls. Defaults to `TIMENAV_TIMELINE`, or else the one that the key is bound to. */
  timelineId?: string;
  /** The response timeout, in milliseconds. Defaults to a minute. */
  timeoutMs?: number;
  /** The retry policy. */
  retries?: Partial<RetryPolicy>;
  /** The function that sends requests. Defaults to the `fetch` of the platform. */
  fetch?: typeof fetch;
}

/** The options of a request. Its headers are a plain object. */
export interface PlainInit extends RequestInit {
  headers: Record<string, string>;
}

const BASE_URL_DEFAULT = 'http://127.0.0.1:8080';

export class Settings {
  readonly baseUrl: string;
  readonly timelineId: string | null;
  readonly timeoutMs: number;
  readonly retries: RetryPolicy;
  readonly fetch: typeof fetch;
  /** Private, so that printing the object does not reveal the key. */
  readonly #apiKey: string | null;

  constructor(options: ClientOptions) {
    this.baseUrl = serviceUrl(options.baseUrl ?? environment('TIMENAV_URL') ?? BASE_URL_DEFAULT);
    this.#apiKey = options.session === true ? null : serviceKey(options.apiKey);
    this.timelineId = options.timelineId ?? environment('TIMENAV_TIMELINE') ?? null;
    this.timeoutMs = options.timeoutMs ?? 60_000;
    this.retries = { ...RETRY_POLICY_DEFAULT, ...options.retries };
    this.fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
  }

  /** Returns these settings with another retry policy. */
  with(retries: RetryPolicy): Settings {
    const { baseUrl, timeoutMs, fetch } = this;
    const credentials = this.#apiKey === null ? { session: true } : { apiKey: this.#apiKey };
    return Object.assign(new Settings({ baseUrl, timeoutMs, fetch, retries, ...credentials }), {
      timelineId: this.timelineId,
    });
  }

  /** Sends a request with the credentials of this client. */
  send(path: string, init: PlainInit): Promise<Response> {
    const headers: Record<string, string> = { ...init.headers };
    if (this.#apiKey !== null) headers.Authorization = `Bearer ${this.#apiKey}`;
    const credentials = this.#apiKey === null ? 'same-origin' : 'omit';
    // Redirects are not followed, because the key must not reach other hosts.
    return this.fetch(this.baseUrl + path, { ...init, headers, credentials, cache: 'no-store', redirect: 'manual' });
  }
}

function environment(name: string): string | undefined {
  // Browsers have no environment.
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name];
}

function serviceUrl(text: string): string {
  const message = `the address of the service (\`baseUrl\` or TIMENAV_URL) must be a URL such as ${BASE_URL_DEFAULT}`;
  const { location } = globalThis as { location?: { href: string } };
  let url: URL;
  try {
    url = new URL(text, location?.href);
  } catch {
    throw new SettingsError(message);
  }
  if (!['http:', 'https:'].includes(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new SettingsError(`${message}: use HTTP or HTTPS, without credentials, query or fragment`);
  }
  return url.href.replace(/\/+$/, '');
}

function serviceKey(given: string | undefined): string {
  const key = (given ?? environment('TIMENAV_API_KEY'))?.trim();
  const source = given === undefined ? 'TIMENAV_API_KEY' : 'apiKey';
  if (key === undefined) throw new SettingsError('there is no API key; pass `apiKey`, or set TIMENAV_API_KEY');
  if (key === '') throw new SettingsError(`${source} is empty; set it to an API key`);
  if (!/^[!-~]+$/.test(key)) {
    throw new SettingsError(`${source} contains invalid characters; an API key is \`tnk_\` and 36 letters and digits`);
  }
  return key;
}
