import { expect, it } from 'vitest';
import type { Counts } from '../../../lib/events/counts';
import { STEPS } from '../../../lib/events/steps';
import {
  COMPARED_MAX,
  compare,
  REQUESTS_MAX,
  countedRanges,
  type ValueCountsResult,
  type ReadValueCounts,
} from './counted';

const range = (from: number, to: number) => ({ from: BigInt(from), to: BigInt(to) });
const ALL = { selected: true, others: true };
const answer = (values: Record<string, number>, more: Partial<ValueCountsResult> = {}): ValueCountsResult => {
  const count = Object.values(values).reduce((sum, one) => sum + one, 0);
  return {
    tally: { count, values: new Map(Object.entries(values)) },
    events: count,
    isCut: false,
    until: null,
    ...more,
  };
};
const even = (each: number): Counts => ({
  step: STEPS[0]!,
  from: 0n,
  to: 1_000n,
  until: 1_000n,
  count: each * 10,
  buckets: Array.from({ length: 10 }, (_, index) => ({
    from: BigInt(index * 100),
    to: BigInt(index * 100 + 100),
    count: each,
  })),
});

it('counts few events in one request, and many in ranges without gaps', () => {
  expect(countedRanges(even(100), [range(0, 199), range(300, 999)])).toEqual({
    ranges: [range(0, 199), range(300, 999)],
    isAll: true,
  });
  const { ranges, isAll } = countedRanges(even(30_000), [range(0, 199), range(300, 999)]);
  expect(isAll).toBe(true);
  expect(ranges[0]!.from).toBe(0n);
  const length = ranges.reduce((sum, { from, to }) => sum + Number(to - from) + 1, 0);
  expect(length).toBe(900);
});

it('samples ranges across ten million events, each small enough for one response', () => {
  const { ranges, isAll } = countedRanges(even(1_000_000), [range(0, 999)]);
  expect(isAll).toBe(false);
  expect(ranges).toEqual([range(0, 8), range(200, 208), range(400, 408), range(600, 608), range(800, 808)]);
});

it('compares a time range with the rest by counting both', async () => {
  const readValueCounts: ReadValueCounts = (_, { from }) =>
    Promise.resolve(answer(from === 10n ? { HU: 3, TS: 1 } : { TS: 4 }));
  const seen: number[] = [];
  const compared = { kind: 'times', selected: [range(10, 19)], others: [range(0, 9), range(20, 30)] } as const;
  const found = await compare(readValueCounts, ['attribute.status'], compared, ALL, (done) => seen.push(done));
  expect(found.facets[0]).toMatchObject({
    name: 'status',
    difference: 0.75,
    shares: [
      { value: 'HU', count: 3, selected: 0.75, others: 0 },
      { value: 'TS', count: 1, selected: 0.25, others: 1 },
    ],
  });
  expect([found.selected, found.others, seen]).toEqual([{ count: 4, isAll: true }, { count: 8, isAll: true }, [1]]);
});

it('compares a box with everything outside it at the same time', async () => {
  const requests: [bigint, boolean][] = [];
  const readValueCounts: ReadValueCounts = (_, { to }, isInBox) => {
    requests.push([to, isInBox]);
    return Promise.resolve(isInBox ? answer({ a: 5 }) : answer({ a: 6, b: 4 }, { until: 50n }));
  };
  const found = await compare(readValueCounts, ['source'], { kind: 'box', at: [range(0, 99)] }, ALL, () => {});
  // The response for everywhere ended early, so the box is counted only up to there.
  expect(requests).toEqual([
    [99n, false],
    [50n, true],
  ]);
  expect(found.facets[0]!.shares).toEqual([
    { value: 'a', count: 5, selected: 1, others: 0.2 },
    { value: 'b', count: 0, selected: 0, others: 0.8 },
  ]);
  expect(found.others).toEqual({ count: 5, isAll: false });
});

it('compares individual events with the others', async () => {
  const selected = [{ event_id: 'e', time: '2000-01-01T00:00:00Z', description: '', source: 'a' }];
  const compared = { kind: 'events', selected, all: [range(0, 9)] } as const;
  const found = await compare(
    () => Promise.resolve(answer({ a: 1, b: 3 })),
    ['source'],
    compared,
    ALL,
    () => {},
  );
  expect(found.facets[0]).toMatchObject({
    difference: 1,
    shares: [
      { value: 'a', others: 0 },
      { value: 'b', others: 1 },
    ],
  });
  expect([found.selected.count, found.others.count]).toEqual([1, 3]);
});

it('lists attributes with too many values and respects the request limit', async () => {
  let requests = 0;
  const readValueCounts: ReadValueCounts = (by) => {
    requests += 1;
    return Promise.resolve(answer({ x: 1 }, { isCut: by === 'attribute.id0' }));
  };
  const names = Array.from({ length: COMPARED_MAX + 3 }, (_, index) => `attribute.id${index}`);
  const at = Array.from({ length: 6 }, (_, index) => range(index * 10, index * 10 + 5));
  const found = await compare(readValueCounts, names, { kind: 'box', at }, ALL, () => {});
  expect(found.cut).toEqual(['attribute.id0']);
  expect(found.facets).toHaveLength(COMPARED_MAX - 1);
  expect(requests).toBe(REQUESTS_MAX);
});
