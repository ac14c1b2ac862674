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

/** Advances past the delay; `respond` handles requests. */
async function settle(respond: () => Promise<Response>, isNeeded = (): boolean => true): Promise<void> {
  vi.stubGlobal('fetch', respond);
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
  const respond = vi.fn(() => Promise.resolve(new Response('page')));
  await settle(respond, () => false);
  expect(reload).not.toHaveBeenCalled();
  expect(respond).not.toHaveBeenCalled();
});
