/** Disposal with `using` and `await using`. */
import { expect, it } from 'vitest';
import { ClockClosedError, type Listener, type VirtualClock, type Watch } from '../src/index.js';
import { Service, TestClock } from '../src/testing.js';
import { client, rejection, timeline } from './harness.js';

it('a clock closes at the end of its block', async () => {
  const service = client();
  const id = await timeline(service);
  let closed: VirtualClock;
  {
    using clock = await service.virtualClock(id);
    await service.pauseTime({ timeline_id: id });
    const { generation } = await service.travel({ destination_time: '2028-02-29T09:00:00Z', timeline_id: id });
    await clock.untilGeneration(generation);
    expect(String(clock)).toBe(`<VirtualClock of ${id} at 2028-02-29T09:00:00Z, paused>`);
    closed = clock;
  }
  expect(() => closed.now()).toThrow(ClockClosedError);
  expect(String(closed)).toContain(`<VirtualClock of ${id}: the clock was closed`);
});

it('a listener closes at the end of its block', async () => {
  const service = client();
  const timelineId = await timeline(service);
  let closed: Listener;
  {
    await using listener = await service.on('default', () => {}, { timelineId });
    expect(listener.isRunning).toBe(true);
    closed = listener;
  }
  expect(closed.isRunning).toBe(false);
  await closed.join();
});

it('a watch and a stream close at the end of their block', async () => {
  const service = client();
  const id = await timeline(service);
  let closed: Watch<unknown>;
  {
    using watch = await service.watchDue({ timelineId: id });
    using events = await service.clockStream({ timeline_id: id });
    for await (const { data } of events) {
      expect(data.timeline_id).toBe(id);
      break;
    }
    closed = watch;
  }
  expect((await closed.next()).done).toBe(true);
});

it('a test clock ends its timeline at the end of its block', async () => {
  const service = client();
  let id: string;
  {
    await using clock = await TestClock.create(service, 'disposed');
    id = clock.timelineId;
  }
  expect(await rejection(service.timeline({ timeline_id: id }))).toHaveProperty('code', 'timeline_ended');
});

it('a service stops at the end of its block', async () => {
  let url: string;
  {
    await using service = await Service.start();
    url = service.baseUrl;
    expect((await fetch(`${url}/healthz`)).ok).toBe(true);
  }
  await rejection(fetch(`${url}/healthz`));
});
