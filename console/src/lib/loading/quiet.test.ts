import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { fetchWaiting, inQuiet, laterOrThrow } from './later';
import { beginRequest, quiet } from './quiet';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

async function isQuietAfter(ms: number): Promise<boolean> {
  let isQuiet = false;
  void quiet().then(() => (isQuiet = true));
  await vi.advanceTimersByTimeAsync(ms);
  return isQuiet;
}

it('is quiet some time after the last answer, and not while one is waited for', async () => {
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

it('does not wait forever for who asks all the time', async () => {
  const end = beginRequest();
  expect(await isQuietAfter(14_000)).toBe(false);
  expect(await isQuietAfter(16_000)).toBe(true);
  end();
});

it('fetches what is waiting, the newest first, once, and again what failed', async () => {
  // What was asked in the test before is long ago.
  vi.advanceTimersByTime(100_000);
  const fetched: string[] = [];
  const file = (name: string) => () => {
    fetched.push(name);
    return name === 'gone' ? Promise.reject(new Error('away')) : Promise.resolve(name);
  };
  const old = laterOrThrow(file('old'));
  const loadMissing = laterOrThrow(file('gone'));
  inQuiet(() => {
    // A view that has come names what it needs later.
    laterOrThrow(file('inner'));
    return Promise.resolve();
  });
  void fetchWaiting();
  void fetchWaiting();
  await vi.advanceTimersByTimeAsync(5_000);
  expect(fetched).toEqual(['inner', 'gone', 'old']);
  expect(await old()).toBe('old');
  await expect(loadMissing()).rejects.toThrow('This part could not be loaded.');
  expect(fetched).toEqual(['inner', 'gone', 'old', 'gone']);
});
