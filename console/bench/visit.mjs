/** Shared by the benchmarks: a service, a user for the benchmark, and a logged-in browser. */
import { randomBytes } from 'node:crypto';
import { chromium } from 'playwright-core';

const USER = 'bench-views';
export const SIZE = { width: 1440, height: 900 };
const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--enable-precise-memory-info',
];

/** A service with operator access. */
export class Site {
  constructor(base, key) {
    this.root = base.replace(/\/$/, '');
    this.key = key;
  }

  /** Sends a value as JSON, or a text of another type. */
  async call(method, path, body, type = 'application/json') {
    const answer = await fetch(`${this.root}/${path}`, {
      method,
      body: type === 'application/json' ? JSON.stringify(body) : body,
      headers: { Authorization: `Bearer ${this.key}`, ...(body === undefined ? {} : { 'Content-Type': type }) },
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }

  /** Returns the first event of a non-empty timeline. */
  async firstEvent(timeline) {
    const query = new URLSearchParams({ timeline_id: timeline, location: '*', time_range: '../..', limit: '1' });
    return (await this.call('GET', `v1/monitor-events?${query}`)).events[0];
  }

  /** Creates a user with rights on timelines and returns the password. Existing administrators keep their rights. */
  async makeUser(timelines, rights = ['read'], operator = false) {
    await this.removeUser();
    const password = randomBytes(18).toString('base64url');
    await this.call('POST', 'v1/users', { user_id: USER, operator });
    for (const name of timelines) {
      const { permissions } = await this.call('GET', `v1/access-control?timeline_id=${name}`);
      const granted = Object.fromEntries(rights.map((right) => [right, [...new Set([...permissions[right], USER])]]));
      await this.call('POST', 'v1/set-access-control', { timeline_id: name, permissions: granted });
    }
    await this.call('POST', 'v1/set-password', { user_id: USER, password });
    return password;
  }

  async removeUser() {
    await this.call('DELETE', `v1/users/${USER}`).catch(() => {});
  }

  async logIn(context, password) {
    const page = await context.newPage();
    await page.goto(this.root);
    const status = await page.evaluate(
      async (body) => {
        const answer = await fetch('v1/login', {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body,
        });
        return answer.status;
      },
      JSON.stringify({ user_id: USER, password }),
    );
    if (status !== 200) throw new Error(`the login answers ${status}`);
    await page.close();
  }
}

/** The browser named by CHROMIUM_BIN. */
const BROWSER = { executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium', args: FLAGS };

export const launch = () => chromium.launch(BROWSER);

/** Starts the browser as a process with a known id. */
export const launchServer = () => chromium.launchServer(BROWSER);

/** Counts requests and bytes of a page, and tracks pending requests. */
export class Traffic {
  requests = 0;
  bytes = 0;
  /** The request URLs, each with the milliseconds since the first one. */
  names = [];
  #under = new Set();
  #first = null;
  #last = performance.now();

  constructor(devtools) {
    devtools.on('Network.requestWillBeSent', ({ requestId, request: { url } }) => {
      this.requests += 1;
      this.#first ??= performance.now();
      this.names.push(`${Math.round(performance.now() - this.#first)} ${new URL(url).pathname}`);
      this.#last = performance.now();
      // A stream stays open, and the page is not notified when a worker script has loaded.
      if (!/\/v1\/stream|\/worker-/.test(url)) this.#under.add(requestId);
    });
    for (const event of ['Network.loadingFinished', 'Network.loadingFailed'])
      devtools.on(event, ({ requestId }) => {
        if (this.#under.delete(requestId)) this.#last = performance.now();
      });
    devtools.on('Network.dataReceived', ({ encodedDataLength }) => (this.bytes += encodedDataLength));
  }

  /** Waits until all responses have arrived and no new request follows for a while. */
  async rest(page, quietMs, maxMs) {
    const limit = performance.now() + maxMs;
    while ((this.#under.size > 0 || performance.now() - this.#last < quietMs) && performance.now() < limit)
      await page.waitForTimeout(100);
  }
}
