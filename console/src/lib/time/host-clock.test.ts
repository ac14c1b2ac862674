import { afterEach, expect, it } from 'vitest';
import { heardFromHost, hostNow } from './host-clock';

const NOON = Date.UTC(2027, 0, 1, 12);

afterEach(() => heardFromHost(new Date(NOON).toUTCString(), NOON));

it('is that of the browser until an answer says otherwise', () => {
  expect(hostNow(NOON)).toBe(NOON);
  heardFromHost(null, NOON);
  heardFromHost('nonsense', NOON);
  expect(hostNow(NOON)).toBe(NOON);
});

it('follows the service, and does not jitter by the seconds that an answer leaves out', () => {
  heardFromHost('Fri, 01 Jan 2027 11:59:59 GMT', NOON);
  expect(hostNow(NOON)).toBe(NOON);
  heardFromHost('Fri, 01 Jan 2027 12:05:00 GMT', NOON);
  expect(hostNow(NOON + 1_000)).toBe(NOON + 301_000);
  heardFromHost('Fri, 01 Jan 2027 11:00:00 GMT', NOON);
  expect(hostNow(NOON)).toBe(NOON - 3_600_000);
});
