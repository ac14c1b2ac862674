/**
 * Pages reused by consecutive tests. With an existing renderer, the console loads in about half the processor time.
 * Each test gets a new document, so nothing that the console keeps in memory leaks into the next one.
 */
import type { BrowserContext, CDPSession, Page } from 'playwright-core';

/** Storage that must not leak into other tests. */
const STORED = 'local_storage,indexeddb,cache_storage,file_systems,service_workers';

/** Clearing a page takes milliseconds, unless its service has ended. */
const CLEAR_MAX_MS = 10_000;

/** Events that tests listen to. Playwright itself listens to others. */
const PAGE_EVENTS = [
  'console',
  'dialog',
  'domcontentloaded',
  'download',
  'filechooser',
  'framenavigated',
  'load',
  'pageerror',
  'popup',
  'request',
  'requestfailed',
  'requestfinished',
  'response',
  'websocket',
  'worker',
] as const;

/** Methods with an effect that cannot be undone. */
const LASTING = [
  'addInitScript',
  'addLocatorHandler',
  'exposeBinding',
  'exposeFunction',
  'setExtraHTTPHeaders',
] as const;

/** The browser context of a user of a service, with at most one idle page for the next test. */
export class ReusedContext {
  #page: Page | null = null;
  /** Pages with a lasting change. */
  readonly #changed = new WeakSet<Page>();
  readonly #devtools: (page: Page) => Promise<CDPSession>;

  /** `staysOpen` returns whether a page is worth keeping in memory between tests. */
  constructor(
    readonly context: BrowserContext,
    private readonly url: string,
    private readonly staysOpen: boolean,
  ) {
    const open = context.newCDPSession.bind(context);
    this.#devtools = open;
    context.newCDPSession = (page) => {
      this.#changed.add(page as Page);
      return open(page);
    };
  }

  /** Whether a test uses a page of this context. */
  get isInUse(): boolean {
    return this.context.pages().some((page) => page !== this.#page);
  }

  /** Returns a page without storage and history. */
  async take(): Promise<Page> {
    const page = this.#page ?? (await this.#open());
    this.#page = null;
    const devtools = await this.#devtools(page);
    await devtools.send('Storage.clearDataForOrigin', { origin: this.url, storageTypes: STORED });
    await devtools.send('Page.resetNavigationHistory');
    await devtools.detach();
    return page;
  }

  /** Closes the pages of a test, except one that may be reused. */
  async endTest(hasPassed: boolean): Promise<void> {
    await this.context.clearPermissions();
    const [first, ...others] = this.context.pages();
    for (const page of others) await page.close();
    if (first === undefined) return;
    if (this.staysOpen && hasPassed && (await this.#isCleared(first))) this.#page = first;
    else await first.close();
  }

  async #open(): Promise<Page> {
    const page = await this.context.newPage();
    for (const name of LASTING) {
      const method = page[name].bind(page) as (...args: never[]) => unknown;
      const noted = (...args: never[]): unknown => {
        this.#changed.add(page);
        return method(...args);
      };
      Object.assign(page, { [name]: noted });
    }
    return page;
  }

  /** Leaves the console and undoes the changes of a test. Returns whether that succeeded. */
  async #isCleared(page: Page): Promise<boolean> {
    if (this.#changed.has(page)) return false;
    for (const event of PAGE_EVENTS) page.removeAllListeners(event);
    try {
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      // The same origin, so that session storage can be cleared, but without a script that writes to it.
      await page.goto(`${this.url}/healthz`, { timeout: CLEAR_MAX_MS });
      await page.evaluate(() => {
        sessionStorage.clear();
        window.name = '';
      });
      // Otherwise the pointer would hover over the next page.
      await page.mouse.move(-1, -1);
      return true;
    } catch {
      return false;
    }
  }
}
