import { expect, it, vi } from 'vitest';
import { request } from './request';

it('request() waits, and calls nothing after its cleanup', async () => {
  vi.useFakeTimers();
  const [ondone, onerror, ask] = [vi.fn(), vi.fn(), vi.fn((_: AbortSignal) => Promise.resolve('body'))];
  request(ask, ondone, { onerror, delay: 300 });
  await vi.advanceTimersByTimeAsync(299);
  expect(ask).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(ondone).toHaveBeenCalledExactlyOnceWith('body');

  request(() => Promise.reject(new Error('down')), ondone, { onerror });
  await vi.advanceTimersByTimeAsync(0);
  expect(onerror).toHaveBeenCalledOnce();

  // Ended before the delay, before a response, and before an error.
  request(ask, ondone, { delay: 300 })();
  request(ask, ondone)();
  request(() => Promise.reject(new Error('late')), ondone, { onerror })();
  await vi.advanceTimersByTimeAsync(1_000);
  expect([ask.mock.calls.length, ondone.mock.calls.length, onerror.mock.calls.length]).toEqual([2, 1, 1]);
  expect(ask.mock.lastCall?.[0].aborted).toBe(true);
  vi.useRealTimers();
});
