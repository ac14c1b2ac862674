import { expect, it } from 'vitest';
import type { Counts } from '../../../lib/events/counts';
import { STEPS } from '../../../lib/events/steps';
import { around, partText, spread } from './ranges';

const range = (from: number, to: number) => ({ from: BigInt(from), to: BigInt(to) });

it('around returns the visible time outside a selected range', () => {
  const viewport = range(0, 100);
  expect(around(viewport, range(20, 30))).toEqual([range(0, 19), range(31, 100)]);
  expect(around(viewport, range(-5, 30))).toEqual([range(31, 100)]);
  expect(around(viewport, range(90, 120))).toEqual([range(0, 89)]);
  expect(around(viewport, range(0, 100))).toEqual([]);
  expect(around(viewport, range(-50, -10))).toEqual([range(0, 100)]);
  expect(around(viewport, range(150, 200))).toEqual([range(0, 100)]);
});

it('spread distributes times by events, not by duration', () => {
  const counts: Counts = {
    step: STEPS[0]!,
    from: 0n,
    to: 400n,
    until: 400n,
    count: 100,
    buckets: [
      { from: 0n, to: 100n, count: 90 },
      { from: 300n, to: 400n, count: 10 },
    ],
  };
  const moments = spread(counts, [range(0, 399)], 10).map(Number);
  expect(moments).toHaveLength(10);
  expect(moments.filter((at) => at < 100)).toHaveLength(9);
  expect(moments[0]).toBe(0);
  expect(moments.at(-1)).toBe(300);
  // Half of a bucket is assumed to have half of its events.
  expect(spread(counts, [range(50, 99), range(300, 399)], 11).filter((at) => at >= 300n)).toHaveLength(2);
  expect(spread(counts, [range(150, 250)], 10)).toEqual([]);
});

it('partText describes the covered events', () => {
  expect(partText({ count: 3, isAll: true }, 'selected')).toBe('all 3 events selected');
  expect(partText({ count: 1, isAll: true }, 'selected')).toBe('the one event selected');
  expect(partText({ count: 380_000, isAll: false }, 'selected')).toBe('380,000 events selected, evenly sampled');
});
