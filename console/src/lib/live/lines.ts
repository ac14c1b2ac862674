/** The way from this page to the hub. */
import type { ToHub, ToPage } from './protocol';
import { unloaded } from '../loading/unloaded.svelte';
import workerUrl from './worker.ts?sharedworker&url';

/** Trusted Types, of which TypeScript's own list has nothing yet. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): {
    createScriptURL(url: string): string;
  };
}

/** May be made once for a page. */
let scripts: { createScriptURL(url: string): string } | undefined;

function trusted(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  scripts ??= trustedTypes?.createPolicy('timenav-lines', { createScriptURL: (given) => given });
  return scripts?.createScriptURL(url) ?? url;
}

/** A page that is out of sight for so long ends its lines. When it comes back, it reads anew: see `Stream`. */
const HIDDEN_MS = 30_000;

export class Lines {
  #port: MessagePort | undefined;
  #sessionId: string | null = null;
  #urls: string[] = [];
  #isHidden = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Gives the lock of this page away. */
  #leave = (): void => {};

  constructor(private readonly onUpdate: (update: ToPage) => void) {
    document.addEventListener('visibilitychange', () => this.#seen());
    for (const event of ['focus', 'pointerdown', 'keydown'])
      addEventListener(event, () => this.#use(), { capture: true, passive: true });
    addEventListener('pagehide', () => this.#say({ kind: 'want', urls: [] }));
    addEventListener('pageshow', (event) => {
      if (event.persisted) this.#sendWants();
    });
  }

  /** Joins the hub of a session, which all pages of the session share, and leaves the one before. */
  join(sessionId: string): void {
    if (sessionId === this.#sessionId) return;
    this.want([]);
    this.#leave();
    this.#sessionId = sessionId;
    this.#port = this.#shared(sessionId) ?? this.#own();
  }

  /** Says which addresses to listen to. */
  want(urls: string[]): void {
    this.#urls = urls;
    this.#sendWants();
  }

  #sendWants(): void {
    this.#say({ kind: 'want', urls: this.#isHidden ? [] : this.#urls });
  }

  #say(request: ToHub): void {
    this.#port?.postMessage(request);
  }

  #shared(sessionId: string): MessagePort | null {
    if (!('SharedWorker' in globalThis)) return null;
    try {
      // A log-out may clear the storage of the site. A worker from before does not see the locks that are taken then.
      const worker = new SharedWorker(trusted(workerUrl), { type: 'module', name: `timenav ${sessionId}` });
      worker.onerror = () => {
        if (this.#port !== worker.port) return;
        this.#port = this.#own();
        this.#sendWants();
      };
      this.#holdLock(worker.port);
      return this.#open(worker.port);
    } catch {
      return null;
    }
  }

  /** The hub in this page, for itself alone. */
  #own(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    // What is said meanwhile waits in the port.
    import('./hub').then(
      ({ Hub }) => new Hub().join(port2),
      () => unloaded.note(Lines, false),
    );
    return this.#open(port1);
  }

  #open(port: MessagePort): MessagePort {
    port.onmessage = ({ data }: MessageEvent<ToPage>) => {
      if (port === this.#port) this.onUpdate(data);
    };
    return port;
  }

  /** A lock that is held until the page is gone tells the worker when that is. Pages that are not secure have none. */
  #holdLock(port: MessagePort): void {
    if (!('locks' in navigator)) return;
    const name = `timenav-page-${Math.random().toString(36).slice(2)}`;
    void navigator.locks.request(name, () => {
      port.postMessage({ kind: 'lock', name } satisfies ToHub);
      return new Promise<void>((left) => (this.#leave = left));
    });
  }

  #usedAt = 0;

  #use(): void {
    // Who types is not told of with each letter.
    if (performance.now() - this.#usedAt < 1_000) return;
    this.#usedAt = performance.now();
    this.#say({ kind: 'used' });
  }

  #seen(): void {
    clearTimeout(this.#timer);
    if (document.hidden) {
      this.#timer = setTimeout(() => {
        this.#isHidden = true;
        this.#sendWants();
        // A line that another tab holds goes on there, and tells nothing here: this page's own rests.
        for (const url of this.#urls) this.onUpdate({ kind: 'state', url, state: 'waiting', hasGap: false });
      }, HIDDEN_MS);
    } else if (this.#isHidden) {
      this.#isHidden = false;
      this.#sendWants();
    }
  }
}
