import { describe, expect, it } from 'vitest';
import type { Counts } from '../../lib/events/counts';
import { stepOf } from '../../lib/events/steps';
import { DAY } from '../../lib/time/instant';
import { barsAt, barsText } from './bars-at';

const counts = (...buckets: [day: bigint, count: number][]): Counts => ({
  step: stepOf(Number(DAY)),
  from: 0n,
  to: 9n * DAY,
  until: 9n * DAY,
  buckets: buckets.map(([day, count]) => ({ from: day * DAY, to: (day + 1n) * DAY, count })),
  count: 0,
});

describe('the bars at a moment', () => {
  const both = { a: counts([1n, 2], [3n, 7]), b: counts([3n, 7], [5n, 1]) };

  it('are those of both sides if either has events', () => {
    expect(barsAt(both, DAY + 5n)).toMatchObject({ from: DAY, a: 2, b: 0 });
    expect(barsAt(both, 3n * DAY)).toMatchObject({ a: 7, b: 7 });
    expect(barsAt(both, 5n * DAY)).toMatchObject({ to: 6n * DAY, a: 0, b: 1 });
    expect([barsAt(both, 2n * DAY), barsAt(null, DAY)]).toEqual([null, null]);
  });

  it('have a text with both names', () => {
    const textAt = (day: bigint): ReturnType<typeof barsText> =>
      barsText(barsAt(both, day * DAY)!, { a: 'fork', b: 'main' });
    expect(textAt(1n).title).toBe('2 and 0 events');
    expect(textAt(1n).text).toMatch(/^fork and main, 2 January .* click to zoom in$/);
    expect(textAt(3n).title).toBe('7 events on each');
    expect(textAt(5n).title).toBe('0 and 1 event');
  });
});
