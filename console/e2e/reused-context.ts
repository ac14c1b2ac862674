/**
 * Pages that one test after another uses. Until it shows the console, a page takes half the processor time again if it
 * has a renderer already. The document is a new one for each test, and so is all that the console keeps in memory.
 */
import type { BrowserContext, CDPSession, Page } from 'playwright-core';

/** What pages store and another test must not find. */
const STORED = 'local_storage,indexeddb,cache_storage,file_systems,service_workers';

/** Clearing a page takes milliseconds, unless its service has ended. */
const CLEAR_MAX_MS = 10_000;

/** What tests listen to. Playwright has listeners of its own for other events. */
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

/** What a page does not forget. */
const LASTING = [
  'addInitScript',
  'addLocatorHandler',
  'exposeBinding',
  'exposeFunction',
  'setExtraHTTPHeaders',
] as const;

/** The context of a user of a service, with at most one page that waits for the next test. */
export class ReusedContext {
  #page: Page | null = null;
  /** Pages with something that lasts as long as they do. */
  readonly #changed = new WeakSet<Page>();
  readonly #devtools: (page: Page) => Promise<CDPSession>;

  /** `staysOpen` says whether a page is worth its memory between tests. */
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

  /** Whether a test has a page here. */
  get isInUse(): boolean {
    return this.context.pages().some((page) => page !== this.#page);
  }

  /** Returns a page that has stored nothing and has been nowhere. */
  async take(): Promise<Page> {
    const page = this.#page ?? (await this.#open());
    this.#page = null;
    const devtools = await this.#devtools(page);
    await devtools.send('Storage.clearDataForOrigin', { origin: this.url, storageTypes: STORED });
    await devtools.send('Page.resetNavigationHistory');
    await devtools.detach();
    return page;
  }

  /** Closes the pages of a test, but for one that another test may use. */
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

  /** Leaves the console, and undoes what a test did to its page. Returns whether that was possible. */
  async #isCleared(page: Page): Promise<boolean> {
    if (this.#changed.has(page)) return false;
    for (const event of PAGE_EVENTS) page.removeAllListeners(event);
    try {
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      // Of the same origin, so that the storage of the session can be cleared; without a script that fills it again.
      await page.goto(`${this.url}/healthz`, { timeout: CLEAR_MAX_MS });
      await page.evaluate(() => {
        sessionStorage.clear();
        window.name = '';
      });
      // A pointer that stays over a page hovers over the next one as well.
      await page.mouse.move(-1, -1);
      return true;
    } catch {
      return false;
    }
  }
}
