import { afterEach, describe, expect, it } from 'vitest';
import { parseMomentInput } from './calendar';
import { formatDate, format, parse } from './instant';
import { zone } from './zone.svelte';
import { precisionOf, readMoment, zonedField } from './zoned';

const read = (text: string): string | null => {
  const instant = readMoment(text);
  return instant === null ? null : format(instant);
};
afterEach(() => void (zone.choice = 'UTC'));

describe('typed moment', () => {
  it('uses the zone in brackets', () => {
    expect(read('2028-02-29T09:00[Asia/Tokyo]')).toBe('2028-02-29T00:00:00Z');
    expect(read('2028-07-01T09:00[America/New_York]')).toBe('2028-07-01T13:00:00Z');
    expect(read('2028-02-29[+05:30]')).toBe('2028-02-28T18:30:00Z');
    expect(read('2028-02-29T09:00+09:00[Asia/Tokyo]')).toBe('2028-02-29T00:00:00Z');
    expect(read('2028-02-29T00:00Z[Asia/Tokyo]')).toBe('2028-02-29T00:00:00Z');
    // The offset does not match the zone, or the zone is unknown.
    expect(read('2028-02-29T09:00+08:00[Asia/Tokyo]')).toBeNull();
    expect(read('2028-02-29T09:00[Asia/Nowhere]')).toBeNull();
    expect(format(parseMomentInput('2028-02-29T09:00[Asia/Tokyo]', 0n)!.instant)).toBe('2028-02-29T00:00:00Z');
  });

  it('may be before the common era, as dates are displayed', () => {
    expect(read('44 BCE')).toBe('-000043-01-01T00:00:00Z');
    expect(read('1 bc')).toBe('0000-01-01T00:00:00Z');
    expect(read('March 44 BCE')).toBe('-000043-03-01T00:00:00Z');
    expect(read('15 Mar 44 BCE')).toBe('-000043-03-15T00:00:00Z');
    expect(formatDate(readMoment('15 March 44 BCE')!)).toBe('15 March 44 BCE');
    expect(read('10000 BCE')).toBe('-009999-01-01T00:00:00Z');
    for (const text of ['0 BCE', '10001 BCE', '31 February 44 BCE', '44', 'Brumaire 44 BCE'])
      expect(read(text)).toBeNull();
  });

  it('has day, month or year precision if it is only a date', () => {
    expect(['44 BCE', 'March 44 BCE', '15 March 44 BCE'].map(precisionOf)).toEqual(['year', 'month', 'day']);
    expect(['2005-09-01', '-000043-03-15[Europe/Rome]'].map(precisionOf)).toEqual(['day', 'day']);
    expect(['2005-09-01T00:00Z', '2005', ''].map(precisionOf)).toEqual(['', '', '']);
  });

  it('uses the selected zone by default', () => {
    zone.choice = 'Asia/Tokyo';
    expect(read('2028-02-29T09:00')).toBe('2028-02-29T00:00:00Z');
    expect(read('2028-02-29')).toBe('2028-02-28T15:00:00Z');
    expect(read('2028-02-29T09:00Z')).toBe('2028-02-29T09:00:00Z');
    expect(format(parseMomentInput('2028-02-29', 0n)!.instant)).toBe('2028-02-28T15:00:00Z');
    expect(read('-0043-03-15')).not.toBeNull();
    expect(read('someday')).toBeNull();
  });

  it('is displayed in that zone and survives a round trip', () => {
    const moment = parse('2028-02-29T00:00:00.25Z')!;
    for (const [choice, text] of [
      ['UTC', '2028-02-29T00:00:00.25Z'],
      ['Asia/Tokyo', '2028-02-29T09:00:00.25+09:00'],
      ['-03:30', '2028-02-28T20:30:00.25-03:30'],
    ] as const) {
      zone.choice = choice;
      expect(zonedField(moment)).toBe(text);
      expect(readMoment(text)).toBe(moment);
    }
    // Local mean time has seconds, which timestamp offsets do not support.
    zone.choice = 'Europe/Amsterdam';
    const old = parse('1890-01-01T00:00:00Z')!;
    expect(readMoment(zonedField(old))).toBe(old);
  });
});
