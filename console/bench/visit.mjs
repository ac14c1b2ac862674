/** What the measurements of the console share: a service, a user of their own, and a browser that is logged in. */
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

/** A service as its operator sees it. */
export class Site {
  constructor(base, key) {
    this.root = base.replace(/\/$/, '');
    this.key = key;
  }

  async call(method, path, body) {
    const answer = await fetch(`${this.root}/${path}`, {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: {
        Authorization: `Bearer ${this.key}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }

  /** Returns the first event of a timeline that has some. */
  async firstEvent(timeline) {
    const query = new URLSearchParams({ timeline_id: timeline, location: '*', time_range: '../..', limit: '1' });
    return (await this.call('GET', `v1/monitor-events?${query}`)).events[0];
  }

  /** Makes a user with rights on some timelines, and returns the password. Who administers them keeps doing so. */
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
    if (status !== 200) throw new Error(`the log-in answers ${status}`);
    await page.close();
  }
}

/** Starts a browser. CHROMIUM_BIN names it. */
export function launch() {
  return chromium.launchServer({
    executablePath: process.env.CHROMIUM_BIN ?? '/usr/bin/chromium',
    args: FLAGS,
  });
}

/** Counts what a page asks for and gets, and knows when nothing is under way any more. */
export class Traffic {
  requests = 0;
  bytes = 0;
  /** What was asked for, each with the milliseconds since the first. */
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
      // A stream stays open, and of the script of a worker the page is not told that it is there.
      if (!/\/v1\/stream|\/worker-/.test(url)) this.#under.add(requestId);
    });
    for (const event of ['Network.loadingFinished', 'Network.loadingFailed'])
      devtools.on(event, ({ requestId }) => {
        if (this.#under.delete(requestId)) this.#last = performance.now();
      });
    devtools.on('Network.dataReceived', ({ encodedDataLength }) => (this.bytes += encodedDataLength));
  }

  /** Waits until nothing is asked for and every answer has been there for a while. */
  async rest(page, quietMs, maxMs) {
    const limit = performance.now() + maxMs;
    while ((this.#under.size > 0 || performance.now() - this.#last < quietMs) && performance.now() < limit)
      await page.waitForTimeout(100);
  }
}
