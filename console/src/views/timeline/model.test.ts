import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ALL } from '../../lib/events/filter';
import { timelines, type TimelineBody } from '../../lib/timelines/timelines.svelte';
import { scale } from '../../lib/chart/scale';
import { parse } from '../../lib/time/instant';
import { TimelineModel } from './model.svelte';

vi.mock('../../lib/live/stream.svelte', () => ({
  Stream: class {
    constructor(_: unknown, __: unknown, onBegin: () => void) {
      onBegin();
    }
    close = (): void => undefined;
  },
}));

const [FIRST, LAST] = ['2020-01-01T00:00:00Z', '2020-12-31T00:00:00Z'];
const BUCKET = { key: '2020-03-01T00:00:00Z', end: '2020-03-02T00:00:00Z', count: 9 };

/** The `group_by` parameter of each request that counts sources. */
const sources: string[] = [];
/** Completes the requests that count the bars. */
let countBars: (status?: number) => void;
let model: TimelineModel;

/** Responds to requests at once, except to those that count the bars. */
function respond(address: URL, signal: AbortSignal | null): Promise<Response> {
  const json = (body: object, status = 200): Response => new Response(JSON.stringify(body), { status });
  const aggregate = (groups: object[]): object => ({
    groups,
    groups_count: groups.length,
    groups_truncated: false,
    count: 9,
    ungrouped_count: 0,
  });
  const by = address.searchParams.get('group_by');
  if (by === null) {
    const time = address.searchParams.get('order') === 'newest' ? LAST : FIRST;
    const event = { event_id: time, time, description: '', position: 1 };
    return Promise.resolve(json({ events: [event], has_more: false, anchors: [], timelines: [] }));
  }
  if (by === 'time')
    return new Promise((done, failed) => {
      countBars = (status) => done(json(status ? { title: 'Broken', status } : aggregate([BUCKET]), status));
      signal?.addEventListener('abort', () => failed(signal.reason as Error));
    });
  sources.push(by);
  const key = by === 'source' ? { key: 'A', count: 9 } : { ...BUCKET, second_key: 'A' };
  return Promise.resolve(json(aggregate([key])));
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/' });
  vi.stubGlobal('fetch', (address: string | URL, init?: RequestInit) =>
    respond(new URL(address), init?.signal ?? null),
  );
  sources.length = 0;
  timelines.list = [{ timeline_id: 'demo', events: 9 } as TimelineBody];
  timelines.isRead = true;
  model = new TimelineModel('demo', 1, { filter: ALL, by: 'source', box: null, asOf: null });
});
afterEach(() => {
  model.close();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

/** Waits until the visible range is stable while the bars are still being counted. */
async function settleWhileCounting(): Promise<void> {
  await vi.waitFor(() => expect(model.counted.overall).not.toBeNull());
  await vi.advanceTimersByTimeAsync(2_000);
  await vi.dynamicImportSettled();
  await vi.advanceTimersByTimeAsync(2_000);
}

describe('a legend of counted groups', () => {
  it('shares the request of its bars if these are counted late', async () => {
    await settleWhileCounting();
    countBars();
    await vi.waitFor(() => expect(model.series).not.toBeNull());
    expect(sources).toEqual(['time,source']);
    expect(model.legend?.groups).toEqual([{ key: 'A', count: 9 }]);
  });

  it('is loaded by a retry after the count has failed', async () => {
    await settleWhileCounting();
    countBars(500);
    await vi.waitFor(() => expect(model.phase).toBe('failed'));
    expect(model.error).not.toBeNull();
    expect(sources).toEqual([]);
    void model.load();
    await settleWhileCounting();
    countBars();
    await vi.waitFor(() => expect(model.series).not.toBeNull());
    expect(sources).toEqual(['time,source']);
  });

  it('is loaded after the count has been canceled', async () => {
    await settleWhileCounting();
    model.cancel();
    await vi.waitFor(() => expect(model.series).not.toBeNull());
    expect(model.phase).toBe('canceled');
    expect(sources).toEqual(['source', 'time,source']);
  });

  it('of a part of the time does not wait for the count', async () => {
    await vi.waitFor(() => expect(model.counted.overall).not.toBeNull());
    model.setView(scale(parse('2020-03-01T00:00:00Z')!, 0, model.view.pixel, 100));
    await settleWhileCounting();
    await vi.waitFor(() => expect(model.legend).not.toBeNull());
    expect(sources).toEqual(['source']);
    countBars();
    await vi.waitFor(() => expect(model.series).not.toBeNull());
    expect(sources).toEqual(['source', 'time,source']);
  });
});
