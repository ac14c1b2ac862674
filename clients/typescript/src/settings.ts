/** The service and the API key of a client, from options or else from the environment, as on the command line. */
import { SettingsError } from './errors.js';
import { RETRIES, type Retries } from './retry.js';

export interface ClientOptions {
  /** The address of the service. Defaults to `TIMENAV_URL`, else `http://127.0.0.1:8080`. */
  baseUrl?: string;
  /** The API key. Defaults to `TIMENAV_API_KEY`. */
  apiKey?: string;
  /** In a page of the service: use the session of who is logged in, and no key. */
  session?: boolean;
  /** The timeline of calls that name none. Defaults to `TIMENAV_TIMELINE`, else the one that the key is bound to. */
  timelineId?: string;
  /** How long to wait for an answer. Defaults to a minute. */
  timeoutMs?: number;
  retries?: Partial<Retries>;
  /** What sends requests. Defaults to the `fetch` of the platform. */
  fetch?: typeof fetch;
}

/** What a request is made of, its headers in a plain object. */
export interface PlainInit extends RequestInit {
  headers: Record<string, string>;
}

const BASE_URL_DEFAULT = 'http://127.0.0.1:8080';

export class Settings {
  readonly baseUrl: string;
  readonly timelineId: string | null;
  readonly timeoutMs: number;
  readonly retries: Retries;
  readonly fetch: typeof fetch;
  /** Private, so that it is in nothing that prints an object. */
  readonly #apiKey: string | null;

  constructor(options: ClientOptions) {
    this.baseUrl = serviceUrl(options.baseUrl ?? environment('TIMENAV_URL') ?? BASE_URL_DEFAULT);
    this.#apiKey = options.session === true ? null : serviceKey(options.apiKey);
    this.timelineId = options.timelineId ?? environment('TIMENAV_TIMELINE') ?? null;
    this.timeoutMs = options.timeoutMs ?? 60_000;
    this.retries = { ...RETRIES, ...options.retries };
    this.fetch = options.fetch ?? globalThis.fetch.bind(globalThis);
  }

  /** Returns these settings with other retries. */
  with(retries: Retries): Settings {
    const { baseUrl, timeoutMs, fetch } = this;
    const who = this.#apiKey === null ? { session: true } : { apiKey: this.#apiKey };
    return Object.assign(new Settings({ baseUrl, timeoutMs, fetch, retries, ...who }), { timelineId: this.timelineId });
  }

  /** Sends a request, with who asks. */
  send(path: string, init: PlainInit): Promise<Response> {
    const headers: Record<string, string> = { ...init.headers };
    if (this.#apiKey !== null) headers.Authorization = `Bearer ${this.#apiKey}`;
    const credentials = this.#apiKey === null ? 'same-origin' : 'omit';
    // No redirect is followed: the key is for this service alone.
    return this.fetch(this.baseUrl + path, { ...init, headers, credentials, cache: 'no-store', redirect: 'manual' });
  }
}

function environment(name: string): string | undefined {
  // In a browser there is none.
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return process?.env?.[name];
}

function serviceUrl(text: string): string {
  const wrong = `the address of the service (\`baseUrl\`, or TIMENAV_URL) must be like ${BASE_URL_DEFAULT}`;
  const { location } = globalThis as { location?: { href: string } };
  let url: URL;
  try {
    url = new URL(text, location?.href);
  } catch {
    throw new SettingsError(`${wrong}: it is no address`);
  }
  if (!['http:', 'https:'].includes(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new SettingsError(`${wrong}: a scheme, a host, and no key in it`);
  }
  return url.href.replace(/\/+$/, '');
}

function serviceKey(given: string | undefined): string {
  const key = (given ?? environment('TIMENAV_API_KEY'))?.trim();
  const source = given === undefined ? 'TIMENAV_API_KEY' : 'apiKey';
  if (key === undefined) throw new SettingsError('there is no API key; give one as `apiKey`, or set TIMENAV_API_KEY');
  if (key === '') throw new SettingsError(`${source} is empty; set it to an API key`);
  if (!/^[!-~]+$/.test(key)) {
    throw new SettingsError(
      `${source} has characters that no API key has; a key is \`tnk_\` and 36 letters and digits`,
    );
  }
  return key;
}
