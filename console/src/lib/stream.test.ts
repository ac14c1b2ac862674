import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ToPage } from './live/protocol';
import { session } from './session.svelte';
import { Stream } from './stream.svelte';

const hubs: { sessionId: string; wanted: string[][]; isClosed: boolean; hear: (said: ToPage) => void }[] = [];

vi.mock('./live/lines', () => ({
  Lines: class {
    readonly hub;
    constructor(
      readonly sessionId: string,
      hear: (said: ToPage) => void,
    ) {
      this.hub = { sessionId, wanted: [] as string[][], isClosed: false, hear };
      hubs.push(this.hub);
    }
    close(): void {
      this.hub.isClosed = true;
    }
    want(urls: string[]): void {
      this.hub.wanted.push(urls);
    }
  },
}));

const logIn = (session_id: string): void => {
  session.body = {
    user_id: 'admin',
    operator: true,
    restriction_level: 'full_access',
    is_first_run: false,
    session_id,
  };
};

let stream: Stream;
const open = (): Stream => new Stream({ timeline: 'demo', events: ['clock'] }, () => {});

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/' });
  logIn('one');
  stream = open();
  vi.advanceTimersByTime(0);
});
afterEach(() => {
  stream.close();
  vi.advanceTimersByTime(0);
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe('a line', () => {
  it('counts as lost after 20 silent seconds, and as open again with the next sign of life', () => {
    const hub = hubs.at(-1)!;
    const url = hub.wanted.at(-1)![0]!;
    hub.hear({ kind: 'state', url, state: 'open', hasGap: false });
    vi.advanceTimersByTime(19_000);
    hub.hear({ kind: 'state', url, state: 'open', hasGap: false });
    vi.advanceTimersByTime(19_000);
    expect(stream.trouble).toBeNull();
    const asked = hub.wanted.length;
    vi.advanceTimersByTime(1_000);
    expect(stream.trouble).toBe('Connection lost. Reconnecting…');
    expect(hub.wanted).toHaveLength(asked + 1);
    hub.hear({ kind: 'state', url, state: 'open', hasGap: false });
    expect(stream.trouble).toBeNull();
  });

  it('moves to the hub of the next session', () => {
    const before = hubs.at(-1)!;
    expect(before.sessionId).toBe('one');
    logIn('two');
    const other = open();
    vi.advanceTimersByTime(0);
    other.close();
    expect(before.isClosed).toBe(true);
    expect(hubs.at(-1)).toMatchObject({ sessionId: 'two', isClosed: false, wanted: before.wanted.slice(-1) });
  });
});
