import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { reloadOnceBack, SETTLE_MS } from './reload';

const reload = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('location', { reload });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
  reload.mockReset();
});

/** Advances past the delay; `answer` responds to requests. */
async function settle(answer: () => Promise<Response>, isNeeded = (): boolean => true): Promise<void> {
  vi.stubGlobal('fetch', answer);
  const over = reloadOnceBack(isNeeded);
  await vi.advanceTimersByTimeAsync(SETTLE_MS);
  await over;
}

it('reloads if the service responds', async () => {
  await settle(() => Promise.resolve(new Response('page')));
  expect(reload).toHaveBeenCalledOnce();
});

it('keeps the page if the service is down', async () => {
  await settle(() => Promise.reject(new TypeError('Failed to fetch')));
  expect(reload).not.toHaveBeenCalled();
});

it('keeps the page if a proxy responds with an error', async () => {
  await settle(() => Promise.resolve(new Response('bad gateway', { status: 502 })));
  expect(reload).not.toHaveBeenCalled();
});

it('keeps the page if a form is in use', async () => {
  const answers = vi.fn(() => Promise.resolve(new Response('page')));
  await settle(answers, () => false);
  expect(reload).not.toHaveBeenCalled();
  expect(answers).not.toHaveBeenCalled();
});
