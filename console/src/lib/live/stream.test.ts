import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { session } from '../session/session.svelte';
import { Stream } from './stream.svelte';

/** Messages that the page sends to hubs, and their replies. */
const hub = vi.hoisted(() => ({
  joined: [] as string[],
  requestedUrls: [] as string[][],
  onUpdate: (_: unknown): void => {},
}));

vi.mock('./lines', () => ({
  Lines: class {
    constructor(onUpdate: (update: unknown) => void) {
      hub.onUpdate = onUpdate;
    }
    join(sessionId: string): void {
      hub.joined.push(sessionId);
    }
    subscribe(urls: string[]): void {
      hub.requestedUrls.push(urls);
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

describe('stream', () => {
  it('is lost after 20 silent seconds, and open again after the next heartbeat', () => {
    const url = hub.requestedUrls.at(-1)![0]!;
    hub.onUpdate({ kind: 'state', url, state: 'open', hasGap: false });
    vi.advanceTimersByTime(19_000);
    hub.onUpdate({ kind: 'state', url, state: 'open', hasGap: false });
    vi.advanceTimersByTime(19_000);
    expect(stream.trouble).toBeNull();
    const before = hub.requestedUrls.length;
    vi.advanceTimersByTime(1_000);
    expect(stream.trouble).toBe('Connection lost. Reconnecting…');
    expect(hub.requestedUrls).toHaveLength(before + 1);
    hub.onUpdate({ kind: 'state', url, state: 'open', hasGap: false });
    expect(stream.trouble).toBeNull();
  });

  it('moves to the hub of the next session', () => {
    expect(hub.joined.at(-1)).toBe('one');
    logIn('two');
    const other = open();
    vi.advanceTimersByTime(0);
    expect(hub.joined.at(-1)).toBe('two');
    other.close();
  });
});
