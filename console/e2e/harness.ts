/**
 * A real service and a real browser. A page fails its test if it logs a console error, violates the
 * Content-Security-Policy or sends a request to another host.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type axe from 'axe-core';
import { chromium, type Browser, type BrowserContext, type BrowserContextOptions, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { ReusedContext } from './reused-context';
import { FOLDER, PASSWORD, Service } from './service';

export { BINARY, PASSWORD, Service, underPrefix } from './service';

declare module 'vitest' {
  interface ProvidedContext {
    /** The service shared by tests, and the session cookie of `admin`. See `setup.ts`. */
    shared: { url: string; adminKey: string; session: string };
    /** A data folder with the timeline `demo` and the password of `admin`. */
    data: string;
  }
}

const CHROMIUM_PATHS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'].map(
  (name) => `/usr/bin/${name}`,
);
export const CHROMIUM =
  process.env.CHROMIUM_BIN ?? CHROMIUM_PATHS.find((path) => existsSync(path)) ?? CHROMIUM_PATHS[0]!;

export const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Pages of a context share a process, and with it the compiled code.
  '--renderer-process-limit=1',
];
/** By default Playwright keeps Chromium's shared memory on disk, in case `/dev/shm` is small. */
const NOT_FLAGS = FOLDER === '/dev/shm' ? ['--disable-dev-shm-usage'] : [];

/** Violations by page. */
const offences = new WeakMap<Page, string[]>();

/** Console errors that a test may expect, for example for a rejected request. */
export const REFUSED = /Failed to load resource: the server responded with a status of 4\d\d/;
export const UNREACHABLE = /Failed to load resource: net::ERR_|net::ERR_(CONNECTION|INCOMPLETE|EMPTY)/;

type PageOptions = BrowserContextOptions & {
  /** Console errors that the test expects. */
  expected?: RegExp;
  /** Whether the page prefetches files in idle time. Default: false. */
  prefetch?: boolean;
};

interface Stage {
  service: Service;
  /** Opens a page in a new browser context without cookies or storage. */
  page(options?: PageOptions): Promise<Page>;
  /**
   * Opens a page with a user's session at a view such as `timeline?timeline=demo`. Tests share one session per user,
   * because logins are rate-limited. A test that ends sessions must request its own.
   */
  loggedIn(view?: string, options?: PageOptions & { user?: string; ownSession?: boolean }): Promise<Page>;
}

/** Same as the timeout of `expect.poll`. */
const WAIT_MAX_MS = 60_000;
const SIZE = { width: 1280, height: 800 };
/** From a phone to a large screen. */
export const WIDTHS = [320, 390, 768, 1280, 2560];

let names = 0;

/** Returns a unique name. */
export function fresh(name: string): string {
  names += 1;
  return `${name}-${process.pid}-${names}`;
}

/** The browser of this worker process. It ends with the process. */
let browser: Promise<Browser> | undefined;

/** The pages opened by the current test. */
const opened: Page[] = [];

/**
 * One context per service and user, for one page at a time. It keeps the compiled console: a page in a new context
 * takes a third more processor time.
 */
const contexts = new Map<string, ReusedContext>();

/** Sessions by service and user. */
const sessions = new Map<string, Promise<string>>();

/** Maximum number of characters printed per page. */
const TEXT_MAX = 3_000;

/** Prints the text of all pages after a failed test. */
export async function printPages(test: string): Promise<void> {
  for (const page of opened.filter((page) => !page.isClosed())) {
    const text = await page.innerText('body', { timeout: 5_000 }).catch(String);
    console.error(`${test}: ${page.url()} shows:\n${text.replaceAll(/\n+/g, ' | ').slice(0, TEXT_MAX)}`);
  }
}

/** Closes the pages of a test, and fails if one of them had a violation. */
export async function closePages(hasPassed: boolean): Promise<void> {
  const found = opened.flatMap((page) => [...(offences.get(page) ?? [])]);
  const all = [...contexts.values()];
  for (const context of new Set(opened.splice(0).map((page) => page.context()))) {
    const user = all.find((one) => one.context === context);
    if (user === undefined) await context.close();
    else await user.endTest(hasPassed && found.length === 0);
  }
  expect(found).toEqual([]);
}

async function newContext(prefetch: boolean, options: BrowserContextOptions): Promise<BrowserContext> {
  browser ??= chromium.launch({ executablePath: CHROMIUM, args: FLAGS, ignoreDefaultArgs: NOT_FLAGS });
  const context = await (await browser).newContext({ viewport: SIZE, ...options });
  // The console prefetches in idle time.
  if (!prefetch) await context.addInitScript(() => (window.requestIdleCallback = () => 0));
  return context;
}

function watched(page: Page, expected?: RegExp): Page {
  page.setDefaultTimeout(WAIT_MAX_MS);
  watch(page, expected);
  opened.push(page);
  return page;
}

async function pageIn({ expected, prefetch = false, ...options }: PageOptions): Promise<Page> {
  const context = await newContext(prefetch, options);
  return watched(await context.newPage(), expected);
}

/** Opens a page in the reusable context of a user, unless that is in use or the options require a new one. */
async function pageOf(url: string, user: string, options: PageOptions): Promise<Page> {
  const { expected, viewport = SIZE, colorScheme = 'light', forcedColors = 'none', ...others } = options;
  const key = `${url} ${user}`;
  if (viewport === null || Object.keys(others).length > 0 || contexts.get(key)?.isInUse === true)
    return pageIn(options);
  const context = contexts.get(key) ?? new ReusedContext(await newContext(false, {}), url, user === 'admin');
  contexts.set(key, context);
  const page = watched(await context.take(), expected);
  await page.setViewportSize(viewport);
  await page.emulateMedia({ media: null, colorScheme, forcedColors, reducedMotion: null, contrast: null });
  return page;
}

function stageOf(service: () => Service): Stage {
  const stage: Stage = {
    get service() {
      return service();
    },
    page: (options = {}) => pageIn(options),
    async loggedIn(view = 'clock', { user = 'admin', ownSession = false, ...options } = {}) {
      const { url } = stage.service;
      const key = `${url} ${user}`;
      const session = ownSession ? stage.service.session(user) : (sessions.get(key) ?? stage.service.session(user));
      if (!ownSession) sessions.set(key, session);
      const [name = '', value = ''] = (await session).split('=');
      const page = await (ownSession ? pageIn(options) : pageOf(url, user, options));
      await page.context().addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }]);
      await page.goto(`${url}/#/${view}`);
      await page.getByRole('button', { name: user, exact: true }).waitFor();
      return page;
    },
  };
  return stage;
}

/** Sets up a test file on the shared service. Each test must create the timelines that it changes. */
export function shared(): Stage {
  const { url, adminKey, session } = inject('shared');
  sessions.set(`${url} admin`, Promise.resolve(session));
  const service = Service.at(url, adminKey);
  return stageOf(() => service);
}

/** Starts a service for a suite that restarts, configures or fills it. */
export function own(...options: string[]): Stage {
  let service: Service | undefined;
  beforeAll(async () => {
    // A ledger keeps the name of the service that created it.
    if (options.includes('--service-name')) {
      service = await Service.start(...options);
      await service.call('POST', 'v1/set-password', { password: PASSWORD });
    } else service = await Service.copied(inject('data'), ...options);
  });
  afterAll(async () => {
    for (const [key, { context }] of contexts) {
      if (service === undefined || !key.startsWith(`${service.url} `)) continue;
      contexts.delete(key);
      await context.close();
    }
    await service?.remove();
  });
  return stageOf(() => {
    if (service === undefined) throw new Error('the service starts before the first test, not earlier');
    return service;
  });
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

/** Fills in and submits the login form. */
export async function logIn(page: Page, user = 'admin', password = PASSWORD): Promise<void> {
  await page.getByLabel('User', { exact: true }).fill(user);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Log in', exact: true }).click();
  await page.getByRole('button', { name: user, exact: true }).waitFor();
}

/** The source of axe, loaded when a test first needs it. */
let axeSource: string | undefined;

/** Fails if axe finds a serious violation on the page. If `rules` are given, only those are checked. */
export async function expectAccessible(page: Page, rules: string[] = []): Promise<void> {
  axeSource ??= readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  // `evaluate` is not subject to the Content-Security-Policy.
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource);
  const violations = await page.evaluate(async (only) => {
    const { axe: here } = window as unknown as { axe: typeof axe };
    // Only violations are reported: describing passes takes longer than the checks.
    const result = await here.run({ resultTypes: ['violations'], ...(only.length > 0 ? { runOnly: only } : {}) });
    return result.violations
      .filter((violation) => violation.impact === 'serious' || violation.impact === 'critical')
      .map(
        ({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html}: ${node.failureSummary ?? ''}`).join(' | ')}`,
      );
  }, rules);
  expect(violations).toEqual([]);
}

/** Fails if the page stays wider than its window. */
export async function expectNoSidewaysScroll(page: Page): Promise<void> {
  const over = (): Promise<number> =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  // Parts that measure themselves adapt to the window one frame later.
  await expect.poll(over, { message: `at ${page.viewportSize()!.width}`, timeout: 10_000 }).toBeLessThanOrEqual(0);
}

/** Fails if the page is wider than its window at any of these widths. Restores the width. */
export async function expectFits(page: Page, widths: readonly number[] = WIDTHS): Promise<void> {
  const size = page.viewportSize()!;
  for (const width of widths) {
    await page.setViewportSize({ ...size, width });
    await expectNoSidewaysScroll(page);
  }
  await page.setViewportSize(size);
}

/** Fails if the page overflows at any width, or if axe finds a serious violation in the light or dark scheme. */
export async function expectUsable(page: Page, widths: readonly number[] = WIDTHS): Promise<void> {
  await expectFits(page, widths);
  await expectAccessibleLightAndDark(page);
}

/** Fails if axe finds a serious violation in the light or dark scheme. */
export async function expectAccessibleLightAndDark(page: Page): Promise<void> {
  await expectAccessible(page);
  // The color scheme only affects contrast.
  await changeColors(page, 'dark');
  await expectAccessible(page, ['color-contrast']);
  await changeColors(page, 'light');
}

/** Changes the color scheme and finishes the transitions that it starts. Without frames they would never end. */
async function changeColors(page: Page, colorScheme: 'light' | 'dark'): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await page.evaluate(() => {
    for (const animation of document.getAnimations()) if (animation instanceof CSSTransition) animation.finish();
  });
}
