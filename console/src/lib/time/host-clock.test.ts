import { afterEach, expect, it } from 'vitest';
import { syncHostClock, hostNow } from './host-clock';

const NOON = Date.UTC(2027, 0, 1, 12);

afterEach(() => syncHostClock(new Date(NOON).toUTCString(), NOON));

it('host clock equals the browser clock without a response', () => {
  expect(hostNow(NOON)).toBe(NOON);
  syncHostClock(null, NOON);
  syncHostClock('nonsense', NOON);
  expect(hostNow(NOON)).toBe(NOON);
});

it('host clock follows the service and ignores rounding to seconds', () => {
  syncHostClock('Fri, 01 Jan 2027 11:59:59 GMT', NOON);
  expect(hostNow(NOON)).toBe(NOON);
  syncHostClock('Fri, 01 Jan 2027 12:05:00 GMT', NOON);
  expect(hostNow(NOON + 1_000)).toBe(NOON + 301_000);
  syncHostClock('Fri, 01 Jan 2027 11:00:00 GMT', NOON);
  expect(hostNow(NOON)).toBe(NOON - 3_600_000);
});
