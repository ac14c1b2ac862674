/** Connects this page to the hub. */
import type { ToHub, ToPage } from './protocol';
import { missingFiles } from '../loading/missing-files.svelte';
import workerUrl from './worker.ts?sharedworker&url';

/** Trusted Types, which TypeScript's DOM types lack. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): {
    createScriptURL(url: string): string;
  };
}

/** A policy name can be registered only once per page. */
let scripts: { createScriptURL(url: string): string } | undefined;

function trustedUrl(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  scripts ??= trustedTypes?.createPolicy('timenav-lines', { createScriptURL: (given) => given });
  return scripts?.createScriptURL(url) ?? url;
}

/** A page that is hidden for this long closes its streams. When visible again, it reloads its data: see `Stream`. */
const HIDDEN_MS = 30_000;

export class Lines {
  #port: MessagePort | undefined;
  #sessionId: string | null = null;
  #urls: string[] = [];
  #isHidden = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Releases this page's lock. */
  #leave = (): void => {};

  constructor(private readonly onUpdate: (update: ToPage) => void) {
    document.addEventListener('visibilitychange', () => this.#onVisibilityChange());
    for (const event of ['focus', 'pointerdown', 'keydown'])
      addEventListener(event, () => this.#onUse(), { capture: true, passive: true });
    addEventListener('pagehide', () => this.#post({ kind: 'subscribe', urls: [] }));
    addEventListener('pageshow', (event) => {
      if (event.persisted) this.#sendWants();
    });
  }

  /** Joins the hub of a session, shared by all pages of that session, and leaves the previous one. */
  join(sessionId: string): void {
    if (sessionId === this.#sessionId) return;
    this.subscribe([]);
    this.#leave();
    this.#sessionId = sessionId;
    this.#port = this.#sharedHub(sessionId) ?? this.#localHub();
  }

  /** Sets the URLs to listen to. */
  subscribe(urls: string[]): void {
    this.#urls = urls;
    this.#sendWants();
  }

  #sendWants(): void {
    this.#post({ kind: 'subscribe', urls: this.#isHidden ? [] : this.#urls });
  }

  #post(request: ToHub): void {
    this.#port?.postMessage(request);
  }

  #sharedHub(sessionId: string): MessagePort | null {
    if (!('SharedWorker' in globalThis)) return null;
    try {
      // Logout may clear the site's storage. Workers started before do not see locks taken after it.
      const worker = new SharedWorker(trustedUrl(workerUrl), { type: 'module', name: `timenav ${sessionId}` });
      worker.onerror = () => {
        if (this.#port !== worker.port) return;
        this.#port = this.#localHub();
        this.#sendWants();
      };
      this.#holdLock(worker.port);
      return this.#open(worker.port);
    } catch {
      return null;
    }
  }

  /** Runs a hub in this page for itself only. */
  #localHub(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    // The port queues messages until the hub is loaded.
    import('./hub').then(
      ({ Hub }) => new Hub().join(port2),
      () => missingFiles.note(Lines, false),
    );
    return this.#open(port1);
  }

  #open(port: MessagePort): MessagePort {
    port.onmessage = ({ data }: MessageEvent<ToPage>) => {
      if (port === this.#port) this.onUpdate(data);
    };
    return port;
  }

  /** Holds a lock until the page closes, so that the worker notices. Insecure contexts have no locks. */
  #holdLock(port: MessagePort): void {
    if (!('locks' in navigator)) return;
    const name = `timenav-page-${Math.random().toString(36).slice(2)}`;
    void navigator.locks.request(name, () => {
      port.postMessage({ kind: 'lock', name } satisfies ToHub);
      return new Promise<void>((left) => (this.#leave = left));
    });
  }

  #usedAt = 0;

  #onUse(): void {
    // Throttle: typing must not send a message per key.
    if (performance.now() - this.#usedAt < 1_000) return;
    this.#usedAt = performance.now();
    this.#post({ kind: 'used' });
  }

  #onVisibilityChange(): void {
    clearTimeout(this.#timer);
    if (document.hidden) {
      this.#timer = setTimeout(() => {
        this.#isHidden = true;
        this.#sendWants();
        // Another tab may keep the stream open, but this page no longer receives its messages.
        for (const url of this.#urls) this.onUpdate({ kind: 'state', url, state: 'waiting', hasGap: false });
      }, HIDDEN_MS);
    } else if (this.#isHidden) {
      this.#isHidden = false;
      this.#sendWants();
    }
  }
}
