/** A virtual clock with a real service. */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  ClockClosedError,
  ClockAccessError,
  ClockStaleError,
  Client,
  Instant,
  ApiError,
  TimeoutError,
  ApiConnectionError,
  type ClockChange,
} from '../src/index.js';
import { Service, TestClock } from '../src/testing.js';
import { client, eventually, rejection, timeline, wait } from './harness.js';

const TIMEOUT = { timeoutMs: 10_000 };

async function testClock(): Promise<TestClock> {
  const clock = await TestClock.create(client(), 'clock');
  onTestFinished(() => clock.end());
  return clock;
}

async function ownService(): Promise<Service> {
  const service = await Service.start();
  onTestFinished(() => service.stop());
  return service;
}

describe('a virtual clock', () => {
  it('matches the service and is never ahead of it', async () => {
    const clock = await testClock();
    for (const rate of [1, 0.5, 1_000]) {
      await clock.setRate(rate);
      const before = clock.now();
      const serviceTime = Instant.parse((await clock.client.clock({ timeline_id: clock.timelineId })).current_time);
      const { now: after, uncertaintyMicros } = clock.clock.reading();
      expect(before.micros).toBeLessThanOrEqual(serviceTime.micros);
      expect(serviceTime.micros).toBeLessThanOrEqual(after.micros + uncertaintyMicros!);
    }
    const readings = Array.from({ length: 2_000 }, () => clock.now().micros);
    expect(readings).toEqual([...readings].sort((a, b) => Number(a - b)));
  });

  it('is read without a request', async () => {
    const clock = await testClock();
    const size = async (): Promise<number> => (await clock.client.checkpoint({ timeline_id: clock.timelineId })).size;
    const before = await size();
    for (let i = 0; i < 1_000; i += 1) clock.now();
    expect(await size()).toBe(before + 1);
  });

  it('computes the same readings as the service', async () => {
    // Each pause, resume and rate change starts at the reading of the service's clock at that microsecond.
    const clock = await testClock();
    let before = clock.clock.state;
    let count = 0;
    const acts = [
      () => clock.setRate(0.333333),
      () => clock.pause(),
      () => clock.resume(),
      () => clock.setRate(987_654.321),
      () => clock.travel('-000043-03-15T12:00:00.000001Z'),
      () => clock.setRate(1.234567),
      () => clock.pause(),
    ];
    for (const act of [...acts, ...acts]) {
      const { state } = await act();
      if (
        state.generation !== before.generation &&
        state.originVirtual.toString() !== '-000043-03-15T12:00:00.000001Z'
      ) {
        expect(String(before.at(state.originHost.micros))).toBe(String(state.originVirtual));
        count += 1;
      }
      before = state;
    }
    expect(count).toBeGreaterThan(8);
  });

  it('reports changes and jumps in order', async () => {
    const clock = await testClock();
    const changes: ClockChange[] = [];
    const jumps: bigint[] = [];
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    clock.clock.onChange(() => {
      throw new Error('the first listener failed');
    });
    clock.clock.onChange(() => Promise.reject(new Error('the second listener failed')));
    clock.clock.onChange((change) => changes.push(change));
    const remove = clock.clock.onJump((change) => jumps.push(change.jumpMicros));
    await clock.pause();
    await clock.fastForward('1h');
    await clock.setRate(60);
    await clock.rewind('2h');
    remove();
    await clock.fastForward('1d');
    expect(changes.map(({ after }) => after.generation)).toEqual([1, 2, 3, 4, 5]);
    expect(jumps).toEqual([3_600_000_000n, -7_200_000_000n]);
    expect(logged).toHaveBeenCalledTimes(10);
    logged.mockRestore();
  });

  it('adapts waits to rate changes, pauses and jumps', async () => {
    const clock = await testClock();
    await clock.pause();
    await clock.travel('2028-02-29T09:00:00Z');
    let isDone = false;
    const waiting = clock.until('2028-02-29T10:00:00Z', TIMEOUT).finally(() => (isDone = true));
    await clock.rewind('1d');
    await clock.resume();
    await wait(50);
    expect(isDone).toBe(false);
    await clock.setRate(100_000);
    const reading = await waiting;
    expect(reading.now.micros).toBeGreaterThanOrEqual(Instant.parse('2028-02-29T10:00:00Z').micros);
    // At this rate, ten days take nine seconds.
    expect(reading.now.micros).toBeLessThan(Instant.parse('2028-03-10T10:00:00Z').micros);
    const jumping = clock.until('2060-01-01T00:00:00Z', TIMEOUT);
    await clock.travel('2061-01-01T00:00:00Z');
    expect(String((await jumping).now)).toMatch(/^2061/);
  });

  it('ends waits on a timeout or an aborted signal', async () => {
    const clock = await testClock();
    await clock.pause();
    expect(await rejection(clock.clock.sleep(1, { timeoutMs: 30 }))).toBeInstanceOf(TimeoutError);
    const signal = AbortSignal.timeout(30);
    expect(await rejection(clock.until('2999-01-01T00:00:00Z', { signal }))).toBe(signal.reason);
    await clock.resume();
    await clock.setRate(100);
    const start = performance.now();
    await clock.clock.sleep(10_000);
    expect(performance.now() - start).toBeGreaterThan(90);
  });

  it('fails while stale and recovers after an outage', async () => {
    const service = await ownService();
    const operator = await service.client();
    const clock = await operator.virtualClock('main', { lostAfterMs: 100 });
    onTestFinished(() => clock.close());
    await operator.setRate({ rate: 2 });
    await clock.untilGeneration(1, TIMEOUT);
    const changes: number[] = [];
    clock.onChange(({ after }) => changes.push(after.generation));
    await service.kill();
    await eventually(() => !clock.isConnected);
    await wait(120);
    expect(() => clock.now()).toThrow(ClockStaleError);
    expect(() => clock.now()).toThrow('lostAfterMs');
    expect(await rejection(clock.until('2060-01-01T00:00:00Z', TIMEOUT))).toBeInstanceOf(ClockStaleError);
    await service.restart();
    await operator.travel({ destination_time: '2030-01-01T00:00:00Z' });
    await operator.pauseTime();
    await eventually(() => clock.isConnected);
    await clock.untilGeneration(3, TIMEOUT);
    // Each change made during the outage is reported once.
    expect(changes).toEqual([2, 3]);
  });

  it('confirms changes as a named follower', async () => {
    const service = client();
    const id = await timeline(service);
    await service.pauseTime({ timeline_id: id });
    const clock = await service.virtualClock(id, { follow: 'web' });
    const generations: number[] = [];
    clock.onChange(({ after }) => generations.push(after.generation));
    for (const moment of ['2031-05-06T00:00:00Z', '1969-07-20T00:00:00Z', '2041-01-01T00:00:00Z']) {
      const response = await service.travel({
        timeline_id: id,
        destination_time: moment,
        followers: 'all',
        wait: '10m',
      });
      expect(response.followers?.state).toBe('confirmed');
      // No wait is needed: reads show a confirmed change, and its listeners have been called.
      expect(String(clock.now())).toBe(moment);
      expect(generations.at(-1)).toBe(response.generation);
    }
    const states = async (): Promise<string[]> =>
      (await service.followers({ timeline_id: id })).followers.map(({ name, state }) => `${name} ${state}`);
    expect(await states()).toEqual(['web up_to_date']);
    clock.close();
    await expect.poll(states, { timeout: 120_000 }).toEqual(['web disconnected']);
  });

  it('ends with its timeline', async () => {
    const service = client();
    const id = await timeline(service);
    const clock = await service.virtualClock(id);
    const waiting = rejection(clock.until('2060-01-01T00:00:00Z', TIMEOUT));
    await service.endTimeline({ timeline_id: id });
    expect(await waiting).toBeInstanceOf(ClockAccessError);
    expect(() => clock.now()).toThrow(ClockAccessError);
    clock.close();
  });

  it('rejects pending waits when it is closed', async () => {
    const clock = await client().virtualClock();
    const waiting = rejection(clock.until('2060-01-01T00:00:00Z'));
    clock.close();
    expect(await waiting).toBeInstanceOf(ClockClosedError);
    expect(() => clock.now()).toThrow(ClockClosedError);
  });

  it('fails at once if it cannot be opened', async () => {
    expect(await rejection(client().virtualClock('no-such-timeline'))).toBeInstanceOf(ApiError);
    const unreachable = new Client({ baseUrl: 'http://127.0.0.1:9', apiKey: 'tnk_x' });
    expect(await rejection(unreachable.virtualClock('main', { timeoutMs: 300 }))).toBeInstanceOf(ApiConnectionError);
    const tooShort = await rejection(client().virtualClock('main', { staleAfterMs: 5_000 }));
    expect(String(tooShort)).toContain('staleAfterMs must be at least 20000');
  });
});
