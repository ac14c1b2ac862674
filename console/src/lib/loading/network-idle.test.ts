import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { loadQueued, queueLoad, loadOrThrow } from './later';
import { beginRequest, networkIdle } from './network-idle';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

async function isQuietAfter(ms: number): Promise<boolean> {
  let isQuiet = false;
  void networkIdle().then(() => (isQuiet = true));
  await vi.advanceTimersByTimeAsync(ms);
  return isQuiet;
}

it('networkIdle() resolves after an idle period, not while a request is pending', async () => {
  vi.advanceTimersByTime(1_000);
  expect(await isQuietAfter(0)).toBe(true);
  const [one, two] = [beginRequest(), beginRequest()];
  one();
  one();
  expect(await isQuietAfter(5_000)).toBe(false);
  two();
  expect(await isQuietAfter(200)).toBe(false);
  expect(await isQuietAfter(400)).toBe(true);
});

it('networkIdle() resolves at its limit if requests never stop', async () => {
  const end = beginRequest();
  expect(await isQuietAfter(14_000)).toBe(false);
  expect(await isQuietAfter(16_000)).toBe(true);
  end();
});

it('loadQueued() loads queued modules once, newest first, and retries failures', async () => {
  // Start long after the requests of the previous test.
  vi.advanceTimersByTime(100_000);
  const fetched: string[] = [];
  const file = (name: string) => () => {
    fetched.push(name);
    return name === 'gone' ? Promise.reject(new Error('away')) : Promise.resolve(name);
  };
  const old = loadOrThrow(file('old'));
  const loadMissing = loadOrThrow(file('gone'));
  queueLoad(() => {
    // A view queues its files after it loads.
    loadOrThrow(file('inner'));
    return Promise.resolve();
  });
  void loadQueued();
  void loadQueued();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(fetched).toEqual(['inner', 'gone', 'old']);
  expect(await old()).toBe('old');
  await expect(loadMissing()).rejects.toThrow('This part could not be loaded.');
  expect(fetched).toEqual(['inner', 'gone', 'old', 'gone']);
});
