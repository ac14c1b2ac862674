import { afterEach, describe, expect, it, vi } from 'vitest';
import { parse } from '../time/instant';
import { bucketAt, countStore, countWithin, readCounts, rounded, type Counts } from './counts';
import { ALL } from './filter';
import { STEPS } from './steps';
import { EventStore } from './store';
import { withPart } from '../../views/timeline/counts/recount';

const day = STEPS.find((step) => step.iso === 'P1D')!;
const at = (date: string): bigint => parse(`${date}T00:00:00Z`)!;
const NOON = 43_200_000_000n;
const bucket = (from: string, to: string, count: number) => ({ from: at(from), to: at(to), count });

const counts: Counts = {
  step: day,
  from: at('2020-01-01'),
  to: at('2020-01-11'),
  until: at('2020-01-11'),
  buckets: [
    bucket('2020-01-01', '2020-01-02', 10),
    bucket('2020-01-02', '2020-01-03', 40),
    bucket('2020-01-09', '2020-01-10', 7),
  ],
  count: 57,
};

afterEach(() => vi.unstubAllGlobals());

describe('event counts', () => {
  it('are exact for whole buckets and marked as estimates otherwise', () => {
    expect(countWithin(counts, at('2019-01-01'), at('2021-01-01'))).toEqual({ count: 57, isExact: true, most: 57 });
    expect(countWithin(counts, at('2020-01-02'), at('2020-01-05'))).toEqual({ count: 40, isExact: true, most: 40 });
    const noon = at('2020-01-02') + NOON;
    expect(countWithin(counts, noon, at('2020-01-05'))).toEqual({ count: 20, isExact: false, most: 40 });
    expect(countWithin(counts, at('2020-01-04'), at('2020-01-06'))).toEqual({ count: 0, isExact: true, most: 0 });
  });

  it('are not exact while counting is incomplete', () => {
    const part = { ...counts, until: at('2020-01-05') };
    expect(countWithin(part, at('2019-01-01'), at('2021-01-01')).isExact).toBe(false);
  });

  it('find the bucket of an instant, or null', () => {
    expect(bucketAt(counts, at('2020-01-02') + 5n)?.count).toBe(40);
    expect(bucketAt(counts, at('2020-01-05'))).toBeNull();
    expect(bucketAt(counts, at('2021-01-05'))).toBeNull();
  });

  it('are replaced in part', () => {
    const part = { ...counts, from: at('2020-01-02'), to: at('2020-01-04'), buckets: [] };
    const after = withPart(counts, part);
    expect([after.count, after.buckets.length, after.from, after.to]).toEqual([17, 2, counts.from, counts.to]);
  });

  it('of a store match those of the service', () => {
    const store = new EventStore();
    for (const time of ['2020-01-01T01:00:00Z', '2020-01-01T23:59:59.999999Z', '2020-01-03T00:00:00Z'])
      store.push({ event_id: time, time, description: '' });
    const found = countStore(store, day);
    expect(found.buckets).toEqual([bucket('2020-01-01', '2020-01-02', 2), bucket('2020-01-03', '2020-01-04', 1)]);
    expect(countStore(store, day, (row) => row === 2).count).toBe(1);
    expect(countStore(new EventStore(), day).buckets).toEqual([]);
  });

  it('are requested page by page, and each event is counted once', async () => {
    const requests: string[] = [];
    const group = (date: string, count: number) => ({
      key: `2020-01-${date}T00:00:00Z`,
      until: `2020-01-${String(Number(date) + 1).padStart(2, '0')}T00:00:00Z`,
      count,
    });
    const responses = [
      // Stopped at noon: the next response continues with events at the same instant.
      { groups: [group('01', 60)], count: 60, counted_until: '2020-01-01T12:00:00Z', next_cursor: 'a' },
      { groups: [group('01', 5), group('03', 20)], count: 25, counted_until: '2020-01-03T12:00:00Z', next_cursor: 'b' },
      { groups: [group('03', 13), group('04', 2)], count: 15 },
    ];
    vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/' });
    vi.stubGlobal('fetch', (address: string) => {
      const { searchParams } = new URL(address);
      requests.push([searchParams.get('time_range'), searchParams.get('cursor')].join(' '));
      return Promise.resolve(new Response(JSON.stringify(responses[requests.length - 1])));
    });
    const parts: Counts[] = [];
    const { signal } = new AbortController();
    const question = { timeline: 'demo', filter: ALL, box: null };
    const found = await readCounts(question, day, counts, signal, (part) => parts.push(part));
    const whole = '2020-01-01T00:00:00Z/2020-01-10T23:59:59.999999Z';
    expect(requests).toEqual([`${whole} `, `${whole} a`, `${whole} b`]);
    expect(found.buckets).toEqual([
      bucket('2020-01-01', '2020-01-02', 65),
      bucket('2020-01-03', '2020-01-04', 33),
      bucket('2020-01-04', '2020-01-05', 2),
    ]);
    expect([found.count, found.until]).toEqual([100, counts.to]);
    expect(parts.map(({ count }) => count)).toEqual([60, 85]);
    expect(parts.map(({ until }) => until)).toEqual([at('2020-01-01') + NOON - 1n, at('2020-01-03') + NOON - 1n]);
  });

  it('are rounded to two digits if they are not exact', () => {
    expect([0, 7, 42, 1_234, 98_765].map(rounded)).toEqual([0, 7, 42, 1_200, 99_000]);
  });
});
