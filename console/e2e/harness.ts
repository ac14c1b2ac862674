/**
 * A service and a browser, both real. Every page is watched: an error in its console, a violation of the
 * Content-Security-Policy or a request to another host fails the test that made it.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, type RunnerTask as Task } from 'vitest';
import { PASSWORD, Service } from './service';

export { BINARY, PASSWORD, Service, underPrefix } from './service';

declare module 'vitest' {
  interface ProvidedContext {
    /** A data folder with the timeline `demo`, and with the password of `admin`. See `setup.ts`. */
    data: string;
  }
}

export const CHROMIUM = process.env.CHROMIUM_BIN ?? '/usr/bin/chromium';

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

/** What a page did that it must not do. */
const offences = new WeakMap<Page, string[]>();

/** Ways in which a test may expect the browser's console to complain, such as about a refused request. */
export const REFUSED = /Failed to load resource: the server responded with a status of 4\d\d/;
export const UNREACHABLE = /Failed to load resource: net::ERR_|net::ERR_(CONNECTION|INCOMPLETE|EMPTY)/;

type PageOptions = BrowserContextOptions & {
  /** Complaints that belong to the test. */
  expected?: RegExp;
};

interface Stage {
  /**
   * Has a test that is tried again begin with a service of its own: for files whose tests each make all that they need
   * beside what `setUp` makes for all of them, under names that a try before has taken.
   */
  anewWhenRepeated: (setUp?: () => Promise<void>) => Stage;
  service: Service;
  /** Opens a page of its own: no cookies, nothing kept. */
  page(options?: PageOptions): Promise<Page>;
  /**
   * Opens a page on which somebody is logged in, at a view such as `timeline?timeline=demo`: with the session that they
   * have since an earlier test of the file, as log-ins are limited, unless it is to be one of the page's own.
   */
  loggedIn(view?: string, options?: PageOptions & { user?: string; ownSession?: boolean }): Promise<Page>;
}

/** As long as `expect.poll` waits. */
const WAIT_MAX_MS = 60_000;
const SIZE = { width: 1280, height: 800 };
const named = new Map<string, number>();

/** Returns a name that the service of the file does not know yet: one that a try before took is not taken again. */
export function fresh(name: string): string {
  const tries = (named.get(name) ?? 0) + 1;
  named.set(name, tries);
  return tries === 1 ? name : `${name}-${tries}`;
}

/** What pages write and another test must not find. Files of the console stay, so that they need not be read again. */
const WRITTEN = 'local_storage,indexeddb,cache_storage,file_systems,service_workers';

/** The service and the browser of a file, from its first test to its last, and the pages of the present test. */
class Backstage {
  #opened: Page[] = [];
  /** The context of each user, for one page at a time. */
  #kept = new Map<string, BrowserContext>();

  constructor(
    readonly service: Service,
    private readonly browser: Browser,
  ) {}

  async page({ expected, ...context }: PageOptions = {}): Promise<Page> {
    const page = await (await this.browser.newContext({ viewport: SIZE, ...context })).newPage();
    return this.#watched(page, expected);
  }

  /** Opens a page in the context that a user has, if it can: it has what the console needs, and its session. */
  async pageOf(user: string, options: PageOptions): Promise<Page> {
    // These a page can be told later. Anything else takes a context of its own, and so does a second page.
    const { expected, viewport = SIZE, colorScheme = 'light', forcedColors = 'none', ...others } = options;
    if (Object.keys(others).length > 0 || (this.#kept.get(user)?.pages().length ?? 0) > 0) return this.page(options);
    const context = this.#kept.get(user) ?? (await this.browser.newContext());
    this.#kept.set(user, context);
    const page = this.#watched(await context.newPage(), expected);
    const devtools = await context.newCDPSession(page);
    await devtools.send('Storage.clearDataForOrigin', { origin: this.service.url, storageTypes: WRITTEN });
    await devtools.detach();
    if (viewport !== null) await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme, forcedColors });
    return page;
  }

  #watched(page: Page, expected?: RegExp): Page {
    page.setDefaultTimeout(WAIT_MAX_MS);
    watch(page, expected);
    this.#opened.push(page);
    return page;
  }

  /** Closes what a test has opened, and returns what its pages did that they must not do. */
  async clear(): Promise<string[]> {
    const found = this.#opened.flatMap((page) => [...(offences.get(page) ?? [])]);
    const contexts = new Set(this.#opened.splice(0).map((page) => page.context()));
    const kept = [...this.#kept.values()];
    for (const context of contexts) {
      if (!kept.includes(context)) await context.close();
      else {
        await context.clearPermissions();
        for (const page of context.pages()) await page.close();
      }
    }
    return found;
  }

  async close(): Promise<void> {
    await this.browser.close();
    await this.service.remove();
  }
}

/** Starts a service with the demo and the password of `admin`. A ledger keeps the name of the service that began it. */
async function serviceWith(options: string[]): Promise<Service> {
  if (!options.includes('--service-name')) return Service.copied(inject('data'), ...options);
  const service = await Service.start(...options);
  await service.call('POST', 'v1/set-password', { password: PASSWORD });
  return service;
}

/** Sets up a service and a browser for all tests of a file. */
export function stage(...options: string[]): Stage {
  let backstage: Backstage | null = null;
  const sessions = new Map<string, Awaited<ReturnType<BrowserContext['cookies']>>>();
  const begin = async (): Promise<void> => {
    const [service, browser] = await Promise.all([
      serviceWith(options),
      chromium.launch({ executablePath: CHROMIUM, args: FLAGS }),
    ]);
    backstage = new Backstage(service, browser);
  };
  beforeAll(begin);
  // Where `E2E_TWICE` is set each test runs twice, to find those that cannot be tried again.
  // eslint-disable-next-line no-empty-pattern -- Vitest insists on a pattern for fixtures, and there are none
  if (process.env.E2E_TWICE) beforeAll(({}, suite) => repeated(suite.tasks));
  afterEach(async () => expect(await backstage?.clear()).toEqual([]));
  afterAll(() => backstage?.close());
  const there = (): Backstage => {
    if (backstage === null) throw new Error('service and browser start before the first test, not earlier');
    return backstage;
  };
  const made: Stage = {
    anewWhenRepeated(setUp) {
      if (setUp) beforeAll(setUp);
      const tried = new Set<string>();
      beforeEach(async ({ task }) => {
        if (tried.has(task.id)) {
          await backstage?.close();
          sessions.clear();
          await begin();
          await setUp?.();
        }
        tried.add(task.id);
      });
      return made;
    },
    get service(): Service {
      return there().service;
    },
    page: (options) => there().page(options),
    async loggedIn(view = 'clock', { user = 'admin', ownSession = false, ...options } = {}) {
      const page = await (ownSession ? made.page(options) : there().pageOf(user, options));
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

function repeated(tasks: readonly Task[]): void {
  for (const task of tasks) {
    if (task.type === 'suite') repeated(task.tasks);
    else task.repeats = 1;
  }
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

/** The program that looks for what keeps people from using a page. It is read only by files that ask it. */
let axeSource: string | undefined;

/** Fails where axe finds something serious on the page as it is. */
export async function expectAccessible(page: Page): Promise<void> {
  axeSource ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  // Evaluated by the test's own channel, which no Content-Security-Policy concerns.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource);
  const violations = await page.evaluate(async () => {
    const { axe: here } = window as unknown as { axe: typeof axe };
    // What passes is not described, which takes longer than to look.
    const result = await here.run({ resultTypes: ['violations'] });
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
