import { describe, expect, it } from 'vitest';
import type { Counts } from '../../../lib/events/counts';
import { stepOf } from '../../../lib/events/steps';
import { ExactCounts, isWorthCounting } from './exact-counts.svelte';

/** Two bars of a hundred microseconds each, with `count` events. */
const bars = (count: number): Counts => ({
  step: stepOf(100),
  from: 0n,
  to: 200n,
  until: 200n,
  buckets: [
    { from: 0n, to: 100n, count },
    { from: 100n, to: 200n, count },
  ],
  count: 2 * count,
});
it('a range is worth a request if one response can count it and bars only estimate it', () => {
  expect(isWorthCounting(bars(7_000), { from: 50n, to: 149n })).toBe(true);
  expect(isWorthCounting(bars(7_000), { from: 0n, to: 199n })).toBe(false);
  // The two bars that the range overlaps may exceed the limit of a response.
  expect(isWorthCounting(bars(60_000), { from: 50n, to: 149n })).toBe(false);
  expect(isWorthCounting(bars(60_000), { from: 50n, to: 99n })).toBe(true);
});

describe('exact counts', () => {
  it('are cached for a few ranges, each once', () => {
    const exactCounts = new ExactCounts();
    for (let time = 0n; time < 30n; time += 1n) exactCounts.know({ from: time, to: 99n }, Number(time));
    exactCounts.know({ from: 29n, to: 99n }, 5);
    expect(exactCounts.of(29n, 99n)).toMatchObject({ count: 5, isExact: true });
    expect(exactCounts.of(19n, 99n)?.count).toBe(19);
    expect(exactCounts.of(10n, 99n)).toBeUndefined();
  });

  it('are dropped if an event in the range changes', () => {
    const exactCounts = new ExactCounts();
    exactCounts.know({ from: 0n, to: 49n }, 1);
    exactCounts.know({ from: 50n, to: 99n }, 2);
    exactCounts.forget({ from: 60n, to: 60n });
    expect([exactCounts.of(0n, 49n)?.count, exactCounts.of(50n, 99n)]).toEqual([1, undefined]);
    exactCounts.forget(null);
    expect(exactCounts.of(0n, 49n)).toBeUndefined();
  });
});
