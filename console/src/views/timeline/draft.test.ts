import { afterEach, describe, expect, it } from 'vitest';
import { zone } from '../../lib/zone.svelte';
import { bodyOf, draftOf } from './draft';

afterEach(() => void (zone.choice = 'UTC'));

describe('an event as it is typed', () => {
  it('is of the date that is typed where no more is known, in whatever zone times are shown', () => {
    zone.choice = 'Asia/Tokyo';
    const sent = (time: string, precision: string): unknown =>
      bodyOf({ ...draftOf(null, ''), time, name: 'x', precision }, null).body.time;
    expect(sent('2005-09-01', 'day')).toBe('2005-09-01T00:00:00Z');
    expect(sent('44 BCE', 'year')).toBe('-000043-01-01T00:00:00Z');
    expect(sent('2005-09-01', '')).toBe('2005-08-31T15:00:00Z');
    expect(sent('2005-09-01T10:00', 'day')).toBe('2005-09-01T01:00:00Z');
  });
});
