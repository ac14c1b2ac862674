import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { loadQueued, later, loadOrThrow } from './later';
import { missingFiles } from './missing-files.svelte';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  missingFiles.forget();
  vi.useRealTimers();
});

/** A file that fails to load until `isThere`. */
function file(name: string) {
  const state = { isThere: false, attempts: 0 };
  const load = (): Promise<string> => {
    state.attempts += 1;
    return state.isThere ? Promise.resolve(name) : Promise.reject(new Error('404'));
  };
  return { state, load };
}

/** Returns the current state of a promise. */
async function outcome(promise: Promise<string>): Promise<string> {
  let current = 'nothing yet';
  promise.then(
    (text) => (current = text),
    () => (current = 'thrown'),
  );
  await vi.advanceTimersByTimeAsync(10);
  return current;
}

it('later() reports a missing file, stays pending and retries on the next call', async () => {
  const { state, load } = file('dialog');
  const dialog = later(load);
  expect(await outcome(dialog())).toBe('nothing yet');
  expect(missingFiles.isAny).toBe(true);
  // The second call succeeds once the file is available.
  state.isThere = true;
  expect(await outcome(dialog())).toBe('dialog');
  expect(missingFiles.isAny).toBe(false);
  expect(state.attempts).toBe(2);
});

it('later() returns the same promise to later callers', async () => {
  const { state, load } = file('dialog');
  state.isThere = true;
  const dialog = later(load);
  const first = dialog();
  expect(dialog()).toBe(first);
  expect(await outcome(first)).toBe('dialog');
  expect(dialog()).toBe(first);
});

it('loadOrThrow() rejects and reports a missing file', async () => {
  const { load } = file('legend');
  expect(await outcome(loadOrThrow(load)())).toBe('thrown');
  expect(missingFiles.isAny).toBe(true);
});

it('preload failures and failures of a previous view are not reported', async () => {
  const unwanted = file('tour');
  later(unwanted.load);
  void loadQueued();
  await vi.advanceTimersByTimeAsync(20_000);
  expect(unwanted.state.attempts).toBe(1);
  expect(missingFiles.isAny).toBe(false);
  const [one, other] = [loadOrThrow(file('one').load), loadOrThrow(file('other').load)];
  await Promise.allSettled([one(), other()]);
  expect(missingFiles.isAny).toBe(true);
  missingFiles.forget();
  expect(missingFiles.isAny).toBe(false);
});
