/** Listeners and advances, with a real service. */
import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import {
  WaitPastFiringError,
  Client,
  FiringsFailedError,
  NotSettledError,
  ApiError,
  TimeoutError,
  type Firing,
} from '../src/index.js';
import { Service, TestClock } from '../src/testing.js';
import { client, eventually, rejection, stubServer, wait } from './harness.js';

const KEY = 'tnk_000000000000000000000000000000000000';
const START = '2027-01-31T09:00:00Z';

/** Returns a paused clock with a timer that fires every day. */
async function clockWithTimer(): Promise<TestClock> {
  const clock = await TestClock.create(client(), 'listener');
  onTestFinished(() => clock.end());
  await clock.pause();
  await clock.travel(START);
  const every = { rule: 'FREQ=DAILY', starts: '2027-02-01T09:00:00Z' };
  await clock.client.setTimer({ timeline_id: clock.timelineId, timer_id: 'daily', every, payload: { invoice: 42 } });
  return clock;
}

/** Keeps logged handler errors out of the test output. */
function muteConsole(): void {
  const spies = [vi.spyOn(console, 'error'), vi.spyOn(console, 'warn')].map((spy) => spy.mockReturnValue());
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()));
}

describe('a handler', () => {
  it('handles all firings of a month', async () => {
    const clock = await clockWithTimer();
    const seen: Firing<Client>[] = [];
    const listener = await clock.on('default', async (firing) => {
      seen.push(firing);
      const response = await clock.client.clock({ timeline_id: clock.timelineId });
      expect(response.current_time).toBe(String(firing.clock.now()));
    });
    const receipt = await clock.advance('P28D');
    expect(String(clock.now())).toBe('2027-02-28T09:00:00Z');
    expect(listener.isRunning).toBe(true);
    await listener.close();
    const { state, fired, acknowledged, failed, unacknowledged } = receipt;
    expect([state, fired, acknowledged, failed, unacknowledged]).toEqual(['settled', 28, 28, 0, 0]);
    expect(receipt.firings.map(({ timer_id }) => timer_id)).toEqual(Array(28).fill('daily'));
    expect(String(seen[1]?.due)).toBe('2027-02-02T09:00:00Z');
    expect([seen[0]?.payload, seen[0]?.attempt, seen[0]?.step, seen[27]?.step]).toEqual([{ invoice: 42 }, 1, 1, 28]);
    expect(listener.isRunning).toBe(false);
    await listener.join();
  });

  it('cannot wait past the due time of its firing', async () => {
    const clock = await clockWithTimer();
    const caught: unknown[] = [];
    const listener = await clock.on('default', async ({ clock: at, client: inside, due, timelineId }) => {
      expect([at.until(due), at.sleep(0), at.millis()]).toEqual([due, due, due.toMillis()]);
      const acts: (() => unknown)[] = [
        () => at.until('2027-02-01T09:00:01Z'),
        () => at.sleep(1_000),
        () => inside.fastForward({ duration: '1h', timeline_id: timelineId }),
      ];
      for (const act of acts) {
        await Promise.resolve()
          .then(act)
          .catch((error: unknown) => caught.push(error));
      }
    });
    await clock.advance('1d');
    await listener.close();
    expect(caught).toEqual([expect.any(WaitPastFiringError), expect.any(WaitPastFiringError), expect.any(ApiError)]);
    expect((caught[2] as ApiError).code).toBe('reentrant_clock_change');
  });

  it('is called for each instant of an advance in order', async () => {
    const clock = await clockWithTimer();
    const { timelineId: timeline_id, client } = clock;
    const seen: string[] = [];
    const listener = await clock.on('default', ({ due }) => void seen.push(String(due)));
    const first = await client.advanceToNext({ timeline_id });
    const second = await client.advanceToNext({ timeline_id });
    await listener.close();
    expect(seen).toEqual([first.new_time, second.new_time]);
    expect(second.receipt).toMatchObject({ state: 'settled', fired: 1, acknowledged: 1 });
    const until = String(first.new_time);
    expect(await client.advanceToNext({ timeline_id, until })).toMatchObject({ current_time: second.new_time });
  });

  it('is retried if it fails, with its error as the reason', async () => {
    muteConsole();
    const clock = await clockWithTimer();
    const attempts: number[] = [];
    const listener = await clock.on('default', ({ attempt, due }) => {
      attempts.push(attempt);
      if (due.micros < BigInt(Date.parse('2027-02-02T00:00:00Z')) * 1_000n || attempt === 1) {
        throw new RangeError(`the card was declined 💳${'é'.repeat(2_000)}`);
      }
    });
    const { fired, acknowledged, failed, firings } = await clock.advance('2d', { allowFailedFirings: true });
    await listener.close();
    // With `allowFailedFirings: true`, the failure counts as handled, so `throwFailure` does not throw it.
    clock.throwFailure();
    expect([fired, acknowledged, failed, attempts]).toEqual([2, 1, 1, [1, 2, 3, 1, 2]]);
    expect(firings[0]?.reason).toMatch(/^RangeError: the card was declined/);
  });

  it('rejects the advance if it fails', async () => {
    muteConsole();
    const { client, timelineId } = await clockWithTimer();
    const handler = (): void => expect(1).toBe(2);
    const listener = await client.on('default', handler, { timelineId });
    const error = (await rejection(client.advance('2d', { timelineId }))) as FiringsFailedError;
    const unchecked = await client.advance('1d', { timelineId, allowFailedFirings: true });
    await listener.close();
    expect([unchecked.fired, unchecked.failed]).toEqual([1, 1]);
    expect(error).toBeInstanceOf(FiringsFailedError);
    expect([error.receipt.fired, error.receipt.failed]).toEqual([2, 2]);
    expect(error.message).toMatch(/^2 of 2 firings failed: daily at 2027-02-01T09:00:00Z: AssertionError: expected 1/);
  });

  it.each(['advance', 'travel', 'fastForward'] as const)('rejects %s of a test clock with its error', async (move) => {
    muteConsole();
    const clock = await clockWithTimer();
    const declined = new RangeError('the card was declined');
    const listener = await clock.on('default', ({ attempt }) => {
      throw attempt === 1 ? new Error('tried again') : declined;
    });
    expect(await rejection(clock[move](move === 'travel' ? '2027-02-01T09:00:00Z' : '1d'))).toBe(declined);
    await listener.close();
    clock.throwFailure();
  });

  it('has its error thrown by throwFailure if no control waited for it', async () => {
    muteConsole();
    const clock = await clockWithTimer();
    const declined = new RangeError('the card was declined');
    let isCalled = false;
    const listener = await clock.on('default', () => {
      isCalled = true;
      throw declined;
    });
    await clock.client.fastForward({ duration: '1d', wait_for_timers: false, timeline_id: clock.timelineId });
    await eventually(() => isCalled);
    await listener.close();
    expect(() => clock.throwFailure()).toThrow(declined);
    clock.throwFailure();
  });

  it('keeps its lease while it runs', async () => {
    const clock = await clockWithTimer();
    const attempts: number[] = [];
    const handler = async ({ attempt }: Firing<Client>): Promise<void> => {
      attempts.push(attempt);
      // Three times the lease: without extensions, another worker would get the firing.
      await wait(3_000);
    };
    const options = { timelineId: clock.timelineId, ackTimeoutMs: 1_000 };
    const listeners = await Promise.all([1, 2].map(() => clock.client.on('default', handler, options)));
    expect((await clock.advance('1d')).acknowledged).toBe(1);
    await Promise.all(listeners.map((listener) => listener.close()));
    expect(attempts).toEqual([1]);
  });

  it('runs in parallel with others unless they share an order key', async () => {
    const clock = await clockWithTimer();
    for (const payload of [0, 1, 2, 3, 4]) {
      const key = payload < 3 ? { order_key: 'one' } : {};
      await clock.client.setTimer({ timeline_id: clock.timelineId, at: '2027-01-31T10:00:00Z', payload, ...key });
    }
    const done: unknown[] = [];
    let waiting = 0;
    const options = { timelineId: clock.timelineId, concurrency: 3 };
    const listener = await clock.client.on(
      'default',
      async ({ payload }) => {
        if ((payload as number) > 2) {
          waiting += 1;
          await eventually(() => waiting === 2);
        }
        done.push(payload);
      },
      options,
    );
    expect((await clock.advance('1h')).acknowledged).toBe(5);
    await listener.close();
    expect(done.filter((payload) => (payload as number) < 3)).toEqual([0, 1, 2]);
  });

  it('finishes before its listener is closed', async () => {
    const clock = await clockWithTimer();
    let release: () => void = () => undefined;
    const released = new Promise<void>((done) => (release = done));
    const seen: string[] = [];
    const listener = await clock.on('default', async ({ timerId }) => {
      seen.push(timerId);
      await released;
    });
    const advancing = clock.advance('1d');
    await eventually(() => seen.length === 1);
    const closing = listener.close().then(() => seen.push('closed'));
    await wait(50);
    expect(seen).toEqual(['daily']);
    release();
    await closing;
    expect((await advancing).acknowledged).toBe(1);
    // An idle listener closes at once. It does not wait for its claim, which takes twenty seconds.
    const idle = await clock.on('default', () => undefined);
    const before = performance.now();
    await idle.close();
    expect(performance.now() - before).toBeLessThan(15_000);
  });
});

describe('an advance', () => {
  it('returns a receipt if it passes no timer', async () => {
    const clock = await TestClock.create(client(), 'nothing');
    onTestFinished(() => clock.end());
    await clock.pause();
    const { state, fired, advanceId, reached } = await clock.advance({ to: '2030-01-01T00:00:00Z' });
    expect([state, fired, advanceId, String(reached)]).toEqual(['settled', 0, null, '2030-01-01T00:00:00Z']);
  });

  it('rejects with its receipt if it is stopped', async () => {
    const clock = await clockWithTimer();
    const listener = await clock.on('default', () => clock.client.pauseTime({ timeline_id: clock.timelineId }));
    const error = await rejection(clock.advance('2d'));
    await listener.close();
    expect(error).toBeInstanceOf(NotSettledError);
    const { state, reached } = (error as NotSettledError).receipt;
    expect([state, String(reached)]).toEqual(['stopped', '2027-02-01T09:00:00Z']);
  });

  it('continues after the timeout of its caller', async () => {
    const clock = await clockWithTimer();
    let release: () => void = () => undefined;
    const released = new Promise<void>((done) => (release = done));
    const listener = await clock.on('default', () => released);
    const options = { timelineId: clock.timelineId, timeoutMs: 200 };
    expect(await rejection(clock.client.advance('1d', options))).toBeInstanceOf(TimeoutError);
    release();
    await clock.until('2027-02-01T09:00:00Z', { timeoutMs: 60_000 });
    await listener.close();
  });

  it('is retried with the same key if its response is lost', async () => {
    const receipt = {
      ...{ state: 'running', advance_id: 'advance_1', timeline_id: 'main', from: START, to: START, reached: START },
      ...{ step: 1, fired: 1, acknowledged: 0, failed: 0, unacknowledged: 0, firings: [] },
    };
    const done = { ...receipt, state: 'settled', acknowledged: 1 };
    const { url, requests } = await stubServer([
      ...(['drop', 'drop', 'drop', 'drop', 'drop'] as const),
      [200, { timeline_id: 'main', current_time: START, receipt }],
      'drop',
      [200, { receipt }],
      [200, { receipt: done }],
    ]);
    expect((await new Client({ baseUrl: url, apiKey: KEY, retries: { attempts: 1 } }).advance('1d')).acknowledged).toBe(
      1,
    );
    const keys = requests.map((headers) => headers['idempotency-key']).filter((key) => key !== undefined);
    expect([requests.length, keys.length, new Set(keys).size]).toEqual([9, 6, 1]);
  });
});

describe('a listener', () => {
  it.each([1, 2])('claims the next firing while it reports an outcome, %i in parallel', async (concurrency) => {
    const firing = {
      ...{ firing_id: 'firing_1', timer_id: 'daily', timeline_id: 'main', due: START, round: 0, generation: 1 },
      ...{ step: 1, attempt: 1, lease_id: 'lease_1', payload: null, leased_until: START },
    };
    let claims = 0;
    const overlapping = new Set<string>();
    const timedOut: string[] = [];
    const { url } = await stubServer(async (path) => {
      const request = path.endsWith('/claim') ? 'claim' : 'outcome';
      if (request === 'claim' && (claims += 1) === 1) return [200, { firings: [firing] }];
      overlapping.add(request);
      // Respond to a claim and an outcome only after both have arrived.
      for (let waits = 0; overlapping.size < 2 && waits < 200; waits += 1) await wait(50);
      if (overlapping.size < 2) timedOut.push(request);
      return [200, { firings: [] }];
    });
    const listener = await new Client({ baseUrl: url, apiKey: KEY }).on('default', () => wait(50), { concurrency });
    await eventually(() => overlapping.size === 2);
    await listener.close();
    expect(timedOut).toEqual([]);
  });

  it('reconnects after an outage of the service', { timeout: 120_000 }, async () => {
    muteConsole();
    const service = await Service.start();
    onTestFinished(() => service.stop());
    const own = await service.client();
    await own.pauseTime();
    await own.travel({ destination_time: START });
    const fired: string[] = [];
    const listener = await own.on('default', ({ timerId }) => fired.push(timerId));
    await service.kill();
    await service.restart();
    await own.setTimer({ timer_id: 'late', at: START });
    while (fired.length === 0) await wait(20);
    await listener.close();
    expect(fired).toEqual(['late']);
  });

  it('rejects if it may not claim', async () => {
    muteConsole();
    const clock = await clockWithTimer();
    expect(await rejection(client().on('default', () => undefined, { timelineId: 'no-such-timeline' }))).toBeInstanceOf(
      ApiError,
    );
    const invalid = client().on('default', () => undefined, { ackTimeoutMs: 10 });
    expect(await rejection(invalid)).toBeInstanceOf(RangeError);
    const key = await client().createApiKey({ timeline_id: clock.timelineId });
    const restricted = new Client({ baseUrl: inject('url'), apiKey: key.api_key ?? '', timelineId: clock.timelineId });
    const listener = await restricted.on('default', () => undefined);
    await client().revokeApiKey({ key_id: key.key_id });
    // The timer ends the pending claim, whose response reports the revocation.
    await clock.client.setTimer({ timeline_id: clock.timelineId, at: '2000-01-01T00:00:00Z' });
    expect(await rejection(listener.join())).toBeInstanceOf(ApiError);
    await listener.close();
  });
});
