/**
 * Holds the stream connections of all tabs. Tabs that want the same stream share a connection. Browsers allow six
 * HTTP/1.1 connections per host across all tabs; most of them must stay free for requests.
 */
import { Connection } from './connection';
import type { LineState, ToHub, ToPage } from './protocol';

/** Maximum number of connections. The most recently used tabs have priority. */
export const LINES_MAX = 3;

/** The part of MessagePort that the hub uses. */
export interface Port {
  postMessage(message: ToPage): void;
  onmessage: ((event: MessageEvent<ToHub>) => void) | null;
}

interface Tab {
  port: Port;
  urls: string[];
  usedAt: number;
}

class Line {
  state: LineState = 'connecting';
  lastId = '';
  /** The newest clock, for tabs that join later. */
  clock: { data: unknown; at: number } | null = null;
  connection: Connection | null = null;
}

export class Hub {
  #tabs = new Set<Tab>();
  #lines = new Map<string, Line>();
  #uses = 0;

  join(port: Port): void {
    const tab: Tab = { port, urls: [], usedAt: (this.#uses += 1) };
    this.#tabs.add(tab);
    port.onmessage = ({ data }) => this.#receive(tab, data);
  }

  #receive(tab: Tab, request: ToHub): void {
    if (request.kind === 'subscribe') {
      const added = request.urls.filter((url) => !tab.urls.includes(url));
      tab.urls = request.urls;
      tab.usedAt = this.#uses += 1;
      this.#balance();
      for (const url of added) this.#replay(tab, url);
      for (const url of request.urls) {
        const line = this.#lines.get(url);
        if (line?.state === 'lost' && line.connection === null) this.#connect(url, line);
      }
    } else if (request.kind === 'used') {
      tab.usedAt = this.#uses += 1;
      this.#balance();
    } else void this.#watchLock(tab, request.name);
  }

  /** Removes a page when it closes or crashes: the browser then releases its lock. */
  async #watchLock(tab: Tab, lock: string): Promise<void> {
    const { held } = await navigator.locks.query();
    // After the site's storage was cleared, existing pages and newer workers no longer share locks. Requesting such a
    // lock would remove a live page; that page announces its departure itself.
    if (!held?.some(({ name }) => name === lock)) return;
    await navigator.locks.request(lock, () => {
      this.#tabs.delete(tab);
      this.#balance();
    });
  }

  #replay(tab: Tab, url: string): void {
    const line = this.#lines.get(url);
    if (line === undefined) return;
    tab.port.postMessage({ kind: 'state', url, state: line.state, hasGap: true });
    if (line.clock === null) return;
    const { data, at } = line.clock;
    const message = { event: 'clock', data, isFirst: true, ageMs: performance.now() - at };
    tab.port.postMessage({ kind: 'message', url, message });
  }

  /** Connects the streams of the most recently used tabs, and closes unwanted ones. */
  #balance(): void {
    const used = new Map<string, number>();
    for (const tab of this.#tabs) for (const url of tab.urls) used.set(url, Math.max(used.get(url) ?? 0, tab.usedAt));
    for (const [url, line] of this.#lines) {
      if (used.has(url)) continue;
      line.connection?.close();
      this.#lines.delete(url);
    }
    const ranked = [...used].sort(([, a], [, b]) => b - a).map(([url]) => url);
    for (const url of ranked.slice(LINES_MAX)) this.#suspend(url);
    for (const url of ranked.slice(0, LINES_MAX)) {
      const line = this.#lines.get(url) ?? new Line();
      this.#lines.set(url, line);
      const mayConnect = line.state === 'connecting' || line.state === 'waiting';
      if (line.connection === null && mayConnect) this.#connect(url, line);
    }
  }

  #suspend(url: string): void {
    const line = this.#lines.get(url) ?? new Line();
    this.#lines.set(url, line);
    if (line.state === 'rejected') return;
    if (line.connection !== null) line.lastId = line.connection.lastId;
    line.connection?.close();
    line.connection = null;
    this.#become(url, line, 'waiting');
  }

  #connect(url: string, line: Line): void {
    this.#become(url, line, 'connecting');
    line.connection = new Connection(url, line.lastId, {
      onOpened: (hasGap) => this.#become(url, line, 'open', hasGap),
      onLost: () => this.#become(url, line, 'lost'),
      onRefused: (status) => {
        line.connection = null;
        this.#become(url, line, status === 401 ? 'lost' : 'rejected');
        if (status === 401) this.#broadcast(url, { kind: 'unauthenticated', url });
      },
      onMessage: (event, data, isFirst) => {
        if (event === 'clock') line.clock = { data, at: performance.now() };
        this.#broadcast(url, { kind: 'message', url, message: { event, data, isFirst, ageMs: 0 } });
      },
      onContact: () => this.#broadcast(url, { kind: 'state', url, state: 'open', hasGap: false }),
    });
  }

  #become(url: string, line: Line, state: LineState, hasGap = false): void {
    if (line.state === state && state !== 'connecting') return;
    line.state = state;
    this.#broadcast(url, { kind: 'state', url, state, hasGap });
  }

  #broadcast(url: string, message: ToPage): void {
    for (const tab of this.#tabs) if (tab.urls.includes(url)) tab.port.postMessage(message);
  }
}
