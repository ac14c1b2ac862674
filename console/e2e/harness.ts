/**
 * A service and a browser, both real. Every page is watched: an error in its console, a violation of the
 * Content-Security-Policy or a request to another host fails the test that made it.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';

export const BINARY = process.env.TIMENAV_BIN ?? resolve(import.meta.dirname, '../../target/debug/timenav');
export const CHROMIUM = process.env.CHROMIUM_BIN ?? '/usr/bin/chromium';

/**
 * Up to so many milliseconds are added to each request and to each answer, to find what works on a quick machine only.
 */
const SLOW_MS = Number(process.env.E2E_SLOW_MS ?? 0);

const START_MAX_MS = 30_000;
export const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A password that every user of the tests has. */
export const PASSWORD = 'correct horse battery staple';

/** A running service with a data folder of its own. */
export class Service {
  #process: ChildProcess | null = null;
  #address = '';
  #slow: Server | null = null;
  url = '';
  adminKey = '';

  private constructor(
    readonly data: string,
    private readonly options: readonly string[],
  ) {}

  /** Starts a service with the timeline `demo`, and waits until it listens. */
  static async start(...options: string[]): Promise<Service> {
    const service = new Service(mkdtempSync(join(tmpdir(), 'timenav-e2e-')), ['--demo', ...options]);
    await service.#launch('127.0.0.1:0');
    service.adminKey = readFileSync(join(service.data, 'admin.key'), 'utf8').trim();
    return service;
  }

  async #launch(listen: string): Promise<void> {
    const child = spawn(BINARY, ['serve', '--data', this.data, '--listen', listen, ...this.options], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = child;
    let log = '';
    child.stderr.on('data', (bytes: Buffer) => (log += bytes.toString()));
    this.#address = await new Promise<string>((found, failed) => {
      const timer = setTimeout(() => failed(new Error(`the service does not start:\n${log}`)), START_MAX_MS);
      child.once('exit', () => failed(new Error(`the service ended:\n${log}`)));
      createInterface(child.stdout).on('line', (line) => {
        const address = /listening on (\S+)/.exec(line)?.[1];
        if (address === undefined) return;
        clearTimeout(timer);
        found(address);
      });
    });
    if (SLOW_MS === 0) {
      this.url = this.#address;
    } else if (this.#slow === null) {
      const { url, server } = await proxy(this.#address, '/', () => Math.random() * SLOW_MS);
      this.url = url.replace(/\/$/, '');
      this.#slow = server;
    }
  }

  /** Ends the service as an operator would, and waits for its end. */
  async end(): Promise<void> {
    const child = this.#process;
    if (child?.exitCode !== null) return;
    child.removeAllListeners('exit');
    const gone = new Promise((done) => child.once('close', done));
    child.kill('SIGTERM');
    await gone;
    this.#process = null;
  }

  /** Starts it again on the same port and data. */
  async again(): Promise<void> {
    await this.#launch(new URL(this.#address).host);
  }

  async remove(): Promise<void> {
    await this.end();
    this.#slow?.close();
    rmSync(this.data, { recursive: true, force: true });
  }

  /** Calls an operation as the operator, and returns the answer's body. */
  async call<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    key = this.adminKey,
  ): Promise<T> {
    const answer = await fetch(`${this.url}/${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as T;
  }

  /** Makes a timeline with a few events of its own. */
  async timeline(timelineId: string, ...events: Record<string, unknown>[]): Promise<void> {
    await this.call('POST', 'timelines', { timeline_id: timelineId });
    for (const event of events) await this.call('POST', `v1/events?timeline_id=${timelineId}`, event);
  }

  /** Makes a user who can log in with `PASSWORD`; an operator on request. */
  async user(userId: string, operator = false): Promise<void> {
    await this.call('POST', 'v1/users', { user_id: userId, operator });
    await this.call('POST', 'v1/set-password', { user_id: userId, password: PASSWORD });
  }
}

/** What a page did that it must not do. */
const offences = new WeakMap<Page, string[]>();

/** Ways in which a test may expect the browser's console to complain, such as about a refused request. */
export const REFUSED = /Failed to load resource: the server responded with a status of 4\d\d/;
export const UNREACHABLE = /Failed to load resource: net::ERR_|net::ERR_(CONNECTION|INCOMPLETE|EMPTY)/;

interface Stage {
  service: Service;
  /** Opens a page of its own: no cookies, nothing kept. `expected` are complaints that belong to the test. */
  page(options?: BrowserContextOptions & { expected?: RegExp }): Promise<Page>;
  /**
   * Opens a page on which somebody is logged in, at a view such as `timeline?timeline=demo`: with the session that they
   * have since an earlier test of the file, as log-ins are limited, unless it is to be one of the page's own.
   */
  loggedIn(
    view?: string,
    options?: BrowserContextOptions & { expected?: RegExp; user?: string; ownSession?: boolean },
  ): Promise<Page>;
}

/** Sets up a service and a browser for all tests of a file. */
export function stage(...options: string[]): Stage {
  let service: Service | null = null;
  let browser: Browser | null = null;
  const pages: Page[] = [];
  const sessions = new Map<string, Awaited<ReturnType<BrowserContext['cookies']>>>();
  beforeAll(async () => {
    service = await Service.start(...options);
    await service.call('POST', 'v1/set-password', { password: PASSWORD });
    browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
  });
  afterEach(async () => {
    for (const page of pages.splice(0)) {
      const found = offences.get(page) ?? [];
      await page.context().close();
      expect(found).toEqual([]);
    }
  });
  afterAll(async () => {
    await browser?.close();
    await service?.remove();
  });
  const made: Stage = {
    get service(): Service {
      if (service === null) throw new Error('the service starts before the first test, not earlier');
      return service;
    },
    async page({ expected, ...context } = {}) {
      if (browser === null) throw new Error('the browser starts before the first test, not earlier');
      const page = await (await browser.newContext({ viewport: { width: 1280, height: 800 }, ...context })).newPage();
      watch(page, expected);
      pages.push(page);
      return page;
    },
    async loggedIn(view = 'clock', { user = 'admin', ownSession = false, ...options } = {}) {
      const page = await made.page(options);
      const cookies = ownSession ? undefined : sessions.get(user);
      if (cookies) await page.context().addCookies(cookies);
      await page.goto(`${made.service.url}/#/${view}`);
      const account = page.getByRole('button', { name: user, exact: true });
      const form = page.getByLabel('Password', { exact: true });
      // On the log-in page of somebody who has a session, both are in sight.
      await account.or(form).first().waitFor();
      if (!(await account.isVisible())) {
        await logIn(page, user);
        if (!ownSession) sessions.set(user, await page.context().cookies());
      }
      return page;
    },
  };
  return made;
}

function watch(page: Page, expected?: RegExp): void {
  const found: string[] = [];
  offences.set(page, found);
  page.on('console', (message) => {
    if (message.type() === 'error' && !expected?.test(message.text())) found.push(message.text());
  });
  page.on('pageerror', (error) => found.push(`thrown: ${error.message}`));
  page.on('request', (sent) => {
    const { hostname, protocol } = new URL(sent.url());
    if (hostname !== '127.0.0.1' && protocol !== 'blob:' && protocol !== 'data:')
      found.push(`asked another host: ${sent.url()}`);
  });
}

/** Fills in the log-in form that is in sight. */
export async function logIn(page: Page, user = 'admin', password = PASSWORD): Promise<void> {
  await page.getByLabel('User', { exact: true }).fill(user);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.getByRole('button', { name: user, exact: true }).waitFor();
}

/** Fails where axe finds something serious on the page as it is. */
export async function expectAccessible(page: Page): Promise<void> {
  // Evaluated by the test's own channel, which no Content-Security-Policy concerns.
  await page.evaluate(axe.source);
  const violations = await page.evaluate(async () => {
    const { axe: here } = window as unknown as { axe: typeof axe };
    const result = await here.run();
    return result.violations
      .filter((violation) => violation.impact === 'serious' || violation.impact === 'critical')
      .map(
        ({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html}: ${node.failureSummary ?? ''}`).join(' | ')}`,
      );
  });
  expect(violations).toEqual([]);
}

/** Fails where the page is wider than its window. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(over).toBeLessThanOrEqual(0);
}

/**
 * Serves a service under a path prefix, as a reverse proxy would. Returns the address of the prefix. `slowMs` says how
 * long a request to an address is held back, and its answer as well.
 */
export function underPrefix(
  service: Service,
  prefix: string,
  slowMs: (url: string) => number = () => 0,
): Promise<{ url: string; server: Server }> {
  return proxy(service.url, prefix, slowMs);
}

/**
 * Passes on what comes to a path prefix, and the answers, each after a while of its own, so that they overtake one
 * another.
 */
async function proxy(
  address: string,
  prefix: string,
  slowMs: (url: string) => number,
): Promise<{ url: string; server: Server }> {
  const target = new URL(address);
  const server = createServer((from, to) => {
    if (!from.url?.startsWith(prefix)) {
      to.writeHead(404).end();
      return;
    }
    const url = from.url;
    const after = (then: () => void): void => {
      const ms = slowMs(url);
      if (ms === 0) then();
      else setTimeout(then, ms);
    };
    const passed = request(
      {
        host: target.hostname,
        port: target.port,
        method: from.method,
        path: from.url.slice(prefix.length - 1),
        headers: from.headers,
      },
      (answer) =>
        after(() => {
          to.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(to);
        }),
    );
    passed.on('error', () => to.destroy());
    to.on('close', () => passed.destroy());
    after(() => from.pipe(passed));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`, server };
}
