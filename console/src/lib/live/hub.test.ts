import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Hub, LINES_MAX, type Port } from './hub';
import type { ToHub, ToPage } from './protocol';

/** A tab that records its messages. */
class Tab implements Port {
  updates: ToPage[] = [];
  onmessage: ((event: MessageEvent<ToHub>) => void) | null = null;

  constructor(hub: Hub) {
    hub.join(this);
  }

  postMessage(message: ToPage): void {
    this.updates.push(message);
  }

  say(request: ToHub): void {
    this.onmessage?.({ data: request } as MessageEvent<ToHub>);
  }

  subscribe(...urls: string[]): void {
    this.say({ kind: 'subscribe', urls });
  }

  state(url: string): string | undefined {
    return this.updates
      .flatMap((update) => (update.kind === 'state' && update.url === url ? [update.state] : []))
      .at(-1);
  }

  get events(): string[] {
    return this.updates.flatMap((update) =>
      update.kind === 'message' ? [`${update.message.event}${update.message.isFirst ? ' first' : ''}`] : [],
    );
  }
}

/** A stream response of the service. */
class StreamResponse {
  #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly response: Response;

  constructor(
    readonly url: string,
    readonly lastId: string | null,
    readonly signal: AbortSignal,
  ) {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    this.#writer = writable.getWriter();
    this.response = new Response(readable);
  }

  send(text: string): void {
    void this.#writer.write(new TextEncoder().encode(text));
  }

  end(): void {
    void this.#writer.close();
  }
}

let streams: StreamResponse[] = [];
let statuses: number[] = [];
const settled = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => {
  vi.useFakeTimers();
  streams = [];
  statuses = [];
  vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
    const headers = init.headers as Record<string, string>;
    const stream = new StreamResponse(url, headers['Last-Event-ID'] ?? null, init.signal!);
    streams.push(stream);
    const status = statuses.shift() ?? 200;
    return Promise.resolve(status === 200 ? stream.response : new Response('{}', { status }));
  });
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('hub', () => {
  it('forwards heartbeats', async () => {
    const tab = new Tab(new Hub());
    tab.subscribe('a');
    await settled();
    streams[0]!.send(': still there\n\n');
    await settled();
    expect(tab.updates.at(-1)).toEqual({ kind: 'state', url: 'a', state: 'open', hasGap: false });
  });

  it.each([
    ['drops a page after its lock is released', 'page', []],
    ['keeps a page whose lock is not shared', 'another', ['clock first']],
  ])('%s', async (_, held, events) => {
    const request = (__: string, got: () => void): Promise<void> => {
      got();
      return Promise.resolve();
    };
    vi.stubGlobal('navigator', { locks: { request, query: () => Promise.resolve({ held: [{ name: held }] }) } });
    const tab = new Tab(new Hub());
    tab.say({ kind: 'lock', name: 'page' });
    tab.subscribe('a');
    await settled();
    streams.at(-1)!.send('id: 1\nevent: clock\ndata: {}\n\n');
    await settled();
    expect(tab.events).toEqual(events);
  });

  it('shares one connection between tabs, and sends its state to later ones', async () => {
    const hub = new Hub();
    const tab1 = new Tab(hub);
    tab1.subscribe('a');
    await settled();
    streams[0]!.send('id: 7\nevent: clock\ndata: {}\n\nid: 8\nevent: clock\ndata: {}\n\n');
    await settled();
    const tab2 = new Tab(hub);
    tab2.subscribe('a');
    await settled();
    streams[0]!.send('id: 9\nevent: events\ndata: {}\n\n');
    await settled();
    expect(streams).toHaveLength(1);
    expect(tab1.events).toEqual(['clock first', 'clock', 'events']);
    expect(tab2.events).toEqual(['clock first', 'events']);
    expect(tab2.state('a')).toBe('open');
  });

  it('resumes from the last ID, even one without data', async () => {
    const tab = new Tab(new Hub());
    tab.subscribe('a');
    await settled();
    streams[0]!.send('id: 7\nevent: clock\ndata: {}\n\nid: 12\n\n');
    await settled();
    streams[0]!.end();
    await settled();
    expect(tab.state('a')).toBe('lost');
    await vi.advanceTimersByTimeAsync(500);
    expect(streams[1]!.lastId).toBe('12');
    streams[1]!.send('id: 13\nevent: clock\ndata: {}\n\n');
    await settled();
    expect(tab.events).toEqual(['clock first', 'clock']);
  });

  it('reports a gap if messages may have been missed', async () => {
    const hub = new Hub();
    const gaps = (tab: Tab) =>
      tab.updates.filter((update) => update.kind === 'state' && update.state === 'open' && update.hasGap).length;
    const tab1 = new Tab(hub);
    tab1.subscribe('a');
    await settled();
    streams[0]!.send('id: 7\nevent: clock\ndata: {}\n\n');
    await settled();
    expect(gaps(tab1)).toBe(1);
    streams[0]!.end();
    await vi.advanceTimersByTimeAsync(500);
    // The stream resumed after the last message, so there is no gap.
    expect(gaps(tab1)).toBe(1);
    const tab2 = new Tab(hub);
    tab2.subscribe('a');
    tab1.subscribe();
    tab1.subscribe('a');
    await settled();
    expect(gaps(tab2)).toBe(1);
    expect(gaps(tab1)).toBe(2);
  });

  it('limits connections, and serves the most recently used tabs', async () => {
    const hub = new Hub();
    const tabs = Array.from({ length: LINES_MAX + 2 }, (_, index) => {
      const tab = new Tab(hub);
      tab.subscribe(`line-${index}`);
      return tab;
    });
    await settled();
    const open = () => tabs.map((tab, index) => tab.state(`line-${index}`) === 'open');
    expect(open()).toEqual([false, false, true, true, true]);
    expect(streams.filter((stream) => !stream.signal.aborted)).toHaveLength(LINES_MAX);
    tabs[0]!.say({ kind: 'used' });
    await settled();
    expect(open()).toEqual([true, false, false, true, true]);
    expect(tabs[2]!.state('line-2')).toBe('waiting');
    tabs[0]!.subscribe();
    await settled();
    expect(open().slice(1)).toEqual([false, true, true, true]);
    expect(streams.filter((stream) => !stream.signal.aborted)).toHaveLength(LINES_MAX);
  });

  it('retries after 503, reports 401 to the page, and does not retry after 404', async () => {
    const tab = new Tab(new Hub());
    statuses = [503];
    tab.subscribe('a');
    await settled();
    expect(tab.state('a')).toBe('lost');
    await vi.advanceTimersByTimeAsync(500);
    expect(tab.state('a')).toBe('open');
    statuses = [401, 200];
    tab.subscribe('b');
    await settled();
    expect(tab.updates.at(-1)).toEqual({ kind: 'unauthenticated', url: 'b' });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(streams.filter(({ url }) => url === 'b')).toHaveLength(1);
    tab.subscribe('b');
    await settled();
    expect(tab.state('b')).toBe('open');
    statuses = [404];
    tab.subscribe('c');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(tab.state('c')).toBe('rejected');
    expect(streams.filter(({ url }) => url === 'c')).toHaveLength(1);
  });

  it('closes a silent connection', async () => {
    const tab = new Tab(new Hub());
    tab.subscribe('a');
    await settled();
    await vi.advanceTimersByTimeAsync(44_000);
    streams[0]!.send(': still here\n\n');
    await vi.advanceTimersByTimeAsync(44_000);
    expect(streams).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(streams[0]!.signal.aborted).toBe(true);
  });
});
