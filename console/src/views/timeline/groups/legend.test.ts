import { describe, expect, it } from 'vitest';
import type { AggregateBody } from '../../../lib/events/counts';
import { cutText, valuesAmong } from './legend';

/** A service response, the most frequent value first. */
const answer = (keys: readonly string[], more: Partial<AggregateBody> = {}): AggregateBody => ({
  groups: keys.map((key) => ({ key, count: 1 })),
  groups_count: keys.length,
  groups_truncated: false,
  count: keys.length,
  ungrouped_count: 0,
  ...more,
});
const many = Array.from({ length: 60 }, (_, index) => String((index - 8) / 10));

describe('suggested values', () => {
  it('are the most frequent ones, and report if there are more', () => {
    const values = valuesAmong(answer(many));
    expect(values.groups).toHaveLength(40);
    expect(cutText(values)).toBe('The 40 most frequent values of 60.');
    expect(cutText(valuesAmong(answer(many, { next_cursor: 'x' })))).toBe(
      'The 40 most frequent values of the counted events.',
    );
    expect(cutText(valuesAmong(answer(['HU', 'TS'])))).toBe('');
    expect(cutText(valuesAmong(answer([])))).toBe('');
  });

  it('have bounds if all values are known and numeric', () => {
    const ends = (body: AggregateBody): (string | null)[] => [valuesAmong(body).least, valuesAmong(body).greatest];
    expect(ends(answer(many))).toEqual(['-0.8', '5.1']);
    expect(ends(answer(['7', 'HU']))).toEqual([null, null]);
    expect(ends(answer(many, { groups_count: 2_000 }))).toEqual([null, null]);
    expect(ends(answer(many, { groups_truncated: true }))).toEqual([null, null]);
    expect(ends(answer([]))).toEqual([null, null]);
  });
});
