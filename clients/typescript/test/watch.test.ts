/** Watches of firings and due events, with a real service and a stub server. */
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import {
  Client,
  ApiError,
  TimenavError,
  type FiringUpdate,
  type Gap,
  type DueRange,
  type Watch,
} from '../src/index.js';
import { Service } from '../src/testing.js';
import { client, rejection, stubServer, timeline, wait, type StubResponse } from './harness.js';

const KEY = 'tnk_000000000000000000000000000000000000';
const START = '2027-01-01T00:00:00Z';
type Update = FiringUpdate | DueRange | Gap;

/** Returns a client for a new timeline with a paused clock. */
async function timelineClient(): Promise<Client> {
  const timelineId = await timeline(client());
  const own = new Client({ baseUrl: inject('url'), apiKey: inject('key'), timelineId });
  await own.pauseTime();
  await own.travel({ destination_time: START });
  return own;
}

function summaryOf(update: Update): unknown {
  if (update.kind === 'gap') return update.isReset ? 'reset' : 'gap';
  if (update.kind === 'firing') return [update.firing.change, update.firing.timerId];
  expect(update.timeRange).toBe(`${String(update.first)}/${String(update.last)}`);
  return [String(update.first), String(update.last)];
}

async function next<T extends Update>(watch: Watch<T>): Promise<T> {
  const { done, value } = await watch.next();
  if (done) throw new Error('the watch has ended');
  return value;
}

async function take(watch: Watch<Update>, count: number): Promise<unknown[]> {
  const seen: unknown[] = [];
  while (seen.length < count) seen.push(summaryOf(await next(watch)));
  return seen;
}

async function all(watch: Watch<Update>): Promise<unknown[]> {
  const seen: unknown[] = [];
  for await (const update of watch) seen.push(summaryOf(update));
  return seen;
}

async function record(own: Client, ...days: number[]): Promise<void> {
  const body = days.map((day) => ({ time: `2027-01-0${day}T00:00:00Z`, description: `Day ${day}` }));
  await own.recordEvents({ body });
}

describe('a watch of firings', () => {
  it('reports the firings of a queue without claiming any', async () => {
    const own = await timelineClient();
    const watch = await own.watchFirings('billing');
    const watchAll = await own.watchFirings();
    expect(watch.lastId).toBe('');
    const at = '2027-01-02T00:00:00Z';
    await own.setTimer({ timer_id: 'other', at });
    await own.setTimer({ timer_id: 'renew', at, deliver: { to: 'queue', queue: 'billing' } });
    await own.fastForward({ duration: '2d', wait_for_timers: false });
    const offered = await next(watch);
    if (offered.kind === 'gap') throw new Error('unexpected gap');
    const { firing } = offered;
    expect([summaryOf(offered), String(firing.due), firing.queue]).toEqual([['offered', 'renew'], at, 'billing']);
    expect([firing.claimedBy, firing.attempt, firing.leasedUntil, firing.reason]).toEqual([null, null, null, null]);
    expect([offered.timelineId, watch.lastId]).toEqual([(await own.clock()).timeline_id, offered.id]);
    const claimed = await own.claimFirings({ queue: 'billing' });
    const leased = await next(watch);
    expect(leased).toMatchObject({ firing: { change: 'leased', timerId: 'renew', claimedBy: 'admin', attempt: 1 } });
    expect(leased.kind === 'firing' && String(leased.firing.leasedUntil)).toBe(claimed.firings[0]!.leased_until);
    await own.acknowledgeFirings({ firing_ids: [firing.firingId] });
    expect(await take(watch, 1)).toEqual([['acknowledged', 'renew']]);
    const offeredTimers = [
      ['offered', 'other'],
      ['offered', 'renew'],
    ];
    expect((await take(watchAll, 2)).sort()).toEqual(offeredTimers);
    watch.close();
    watchAll.close();
    // A resumed watch reports missed changes, and a gap, because claims may be missing.
    const again = await own.watchFirings('billing', { lastEventId: offered.id });
    expect(await take(again, 2)).toEqual(['gap', ['acknowledged', 'renew']]);
    again.close();
  });
});

describe('a watch of due events', () => {
  it('reports passed ranges with events', async () => {
    const own = await timelineClient();
    await record(own, 2, 3, 9);
    const watch = await own.watchDue();
    await own.fastForward({ duration: '5d' });
    const passed = await next(watch);
    expect(summaryOf(passed)).toEqual(['2027-01-01T00:00:00.000001Z', '2027-01-06T00:00:00Z']);
    const time_range = passed.kind === 'due' ? passed.timeRange : '';
    const { events } = await own.monitorEvents({ location: '*', time_range });
    expect(events.map(({ time }) => time)).toEqual(['2027-01-02T00:00:00Z', '2027-01-03T00:00:00Z']);
    await own.rewind({ duration: '4d' });
    await own.fastForward({ duration: '2d' });
    expect(await take(watch, 1)).toEqual([['2027-01-02T00:00:00.000001Z', '2027-01-04T00:00:00Z']]);
    watch.close();
    await own.fastForward({ duration: 'P1M' });
    const again = await own.watchDue({ lastEventId: watch.lastId });
    expect(await take(again, 1)).toEqual([['2027-01-04T00:00:00.000001Z', '2027-02-04T00:00:00Z']]);
    again.close();
  });
});

describe('a watch', () => {
  it('reconnects after an outage of the service', { timeout: 120_000 }, async () => {
    const service = await Service.start();
    onTestFinished(() => service.stop());
    const own = await service.client();
    await own.pauseTime();
    await own.travel({ destination_time: START });
    await record(own, 2, 4);
    const [firings, due] = [await own.watchFirings('default'), await own.watchDue()];
    await own.setTimer({ timer_id: 'before', at: START });
    await own.fastForward({ duration: '36h' });
    expect(await take(firings, 1)).toEqual([['offered', 'before']]);
    expect(await take(due, 1)).toEqual([['2027-01-01T00:00:00.000001Z', '2027-01-02T12:00:00Z']]);
    const waiting = [take(firings, 2), take(due, 1)];
    await service.kill();
    await service.restart();
    await own.setTimer({ timer_id: 'after', at: START });
    await own.fastForward({ duration: '3d' });
    expect(await Promise.all(waiting)).toEqual([
      ['gap', ['offered', 'after']],
      [['2027-01-02T12:00:00.000001Z', '2027-01-05T12:00:00Z']],
    ]);
    firings.close();
    due.close();
  });

  it('ends when it is closed, exited or aborted', async () => {
    const own = await timelineClient();
    const watch = await own.watchFirings();
    const waiting = all(watch);
    await wait(50);
    watch.close();
    expect([await waiting, await all(watch)]).toEqual([[], []]);
    await own.setTimer({ at: START });
    const exited = await own.watchFirings(null, { lastEventId: '0' });
    for await (const update of exited) {
      expect(summaryOf(update)).toBe('gap');
      break;
    }
    expect(await all(exited)).toEqual([]);
    const controller = new AbortController();
    const abortable = await own.watchDue({ signal: controller.signal });
    const ended = all(abortable);
    controller.abort();
    expect(await ended).toEqual([]);
    const unread = await own.watchDue();
    unread.close();
    expect(await all(unread)).toEqual([]);
  });

  it('rejects after its permission is revoked', async () => {
    const own = await timelineClient();
    expect(await rejection(own.watchFirings('no queue'))).toMatchObject({ code: 'invalid_parameter' });
    expect(await rejection(own.watchDue({ timelineId: 'no-such-timeline' }))).toBeInstanceOf(ApiError);
    const { timeline_id } = await own.clock();
    const key = await own.createApiKey({ timeline_id });
    const restricted = new Client({ baseUrl: inject('url'), apiKey: key.api_key ?? '', timelineId: timeline_id });
    const watch = await restricted.watchFirings();
    await own.revokeApiKey({ key_id: key.key_id });
    expect(await rejection(watch.next())).toMatchObject({ httpStatus: 401 });
    expect(await all(watch)).toEqual([]);
  });

  it('resumes after the newest id or reports a reset', async () => {
    const due = { from: START, to: START, time_range: `${START}/${START}` };
    const message = `event: due\nid: 7@1\ndata: ${JSON.stringify({ timeline_id: 't', position: 7, due })}\n\n`;
    const responses: StubResponse[] = [
      { stream: '' },
      [503, { 'Retry-After': '0' }],
      'drop',
      { stream: `event: later\nid: 6\ndata: {}\n\n${message}id: 9@2\n\n` },
      { stream: 'event: reset\nid: 12\ndata: {}\n\n' },
      [404, {}],
    ];
    const { url, requests } = await stubServer(responses);
    const watch = await new Client({ baseUrl: url, apiKey: KEY }).watchDue();
    // Without an id, changes since the loss are missing. Messages of unknown kinds are skipped.
    expect(await take(watch, 3)).toEqual(['reset', [START, START], 'reset']);
    expect(await rejection(watch.next())).toBeInstanceOf(ApiError);
    expect(await all(watch)).toEqual([]);
    const lastIds = requests.map((headers) => headers['last-event-id']);
    expect(lastIds).toEqual([undefined, undefined, undefined, undefined, '9@2', '12']);
    const invalid = await stubServer([{ stream: 'event: due\nid: 1\ndata: {}\n\n' }]);
    const unread = await new Client({ baseUrl: invalid.url, apiKey: KEY }).watchDue();
    const error = await rejection(unread.next());
    expect(error).toBeInstanceOf(TimenavError);
    expect(String(error)).toContain('not from a timenav service');
  });
});
