import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { address } from '../service/base';
import { FIRST_SESSION, FIRST_TIMELINES, sendEarly, takeEarlyResponse } from './first-requests';

const requests: string[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  requests.length = 0;
  globalThis.timenavFirst = undefined;
  vi.stubGlobal('document', { baseURI: 'http://localhost/' });
  vi.stubGlobal('fetch', (url: string) => {
    requests.push(url);
    return Promise.resolve(new Response('{}'));
  });
});

afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

test('early response is used once, by the same request', async () => {
  await sendEarly(FIRST_SESSION);
  const url = address(FIRST_SESSION);
  expect(takeEarlyResponse('POST', url)).toBeNull();
  expect(takeEarlyResponse('GET', address(FIRST_TIMELINES))).toBeNull();
  expect((await takeEarlyResponse('GET', url))?.response.status).toBe(200);
  expect(takeEarlyResponse('GET', url)).toBeNull();
  expect(requests).toEqual([url]);
});

test('early request is dropped if it is not allowed, and sent again on demand', async () => {
  await expect(sendEarly(FIRST_TIMELINES, Promise.resolve(false))).rejects.toThrow('not allowed');
  expect(takeEarlyResponse('GET', address(FIRST_TIMELINES))).toBeNull();
  expect(requests).toEqual([]);
});

test('pending early request is not sent twice', async () => {
  let allow = (_: boolean): void => {};
  const request = sendEarly(FIRST_TIMELINES, new Promise<boolean>((resolve) => (allow = resolve)));
  const taken = takeEarlyResponse('GET', address(FIRST_TIMELINES));
  expect(taken).toBe(request);
  allow(true);
  expect((await taken)?.response.status).toBe(200);
  expect(requests).toEqual([address(FIRST_TIMELINES)]);
});

test('unused early response expires', async () => {
  await sendEarly(FIRST_SESSION);
  vi.advanceTimersByTime(60_000);
  expect(takeEarlyResponse('GET', address(FIRST_SESSION))).toBeNull();
});
