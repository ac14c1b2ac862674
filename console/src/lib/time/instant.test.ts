import { describe, expect, it } from 'vitest';
import { DAY, civilFromDays, daysFromCivil, distance, formatMoment, format, parse } from './instant';

describe('instants', () => {
  it('are parsed and formatted like in the API', () => {
    const same = [
      '1970-01-01T00:00:00Z',
      '-009999-01-01T00:00:00Z',
      '9999-12-31T23:59:59.999999Z',
      '0000-02-29T12:00:00Z',
      '-000043-03-15T12:00:00Z',
      '0099-12-31T23:59:59Z',
      '2028-02-29T08:30:00.5Z',
    ];
    for (const text of same) expect(format(parse(text)!)).toBe(text);
  });

  it('are parsed with offsets and six-digit years', () => {
    expect(format(parse('2028-02-29T01:30:00+02:00')!)).toBe('2028-02-28T23:30:00Z');
    expect(format(parse('-2150-01-01T00:00:00Z')!)).toBe('-002150-01-01T00:00:00Z');
    expect(format(parse('2028-02-29 08:30')!)).toBe('2028-02-29T08:30:00Z');
  });

  it('are rejected if the calendar has no such day', () => {
    for (const text of [
      '2027-02-29T00:00:00Z',
      '2028-13-01T00:00:00Z',
      '2028-01-01T24:00:00Z',
      'tomorrow',
      '2028-01-01',
    ]) {
      expect(parse(text)).toBeNull();
    }
  });

  it('convert to days and back for every day', () => {
    const last = daysFromCivil(9999, 12, 31);
    const wrong: number[] = [];
    for (let day = daysFromCivil(-9999, 1, 1); day <= last; day += 1) {
      const { year, month, day: d } = civilFromDays(day);
      if (daysFromCivil(year, month, d) !== day) wrong.push(day);
    }
    expect(wrong).toEqual([]);
    expect(daysFromCivil(1970, 1, 1)).toBe(0);
    expect(daysFromCivil(2000, 3, 1)).toBe(11_017);
  });

  it('have readable texts', () => {
    expect(formatMoment(parse('-0043-03-15T00:00:00Z')!)).toBe('15 March 44 BCE');
    expect(formatMoment(parse('2028-02-29T08:30:00Z')!)).toBe('29 February 2028, 08:30');
    expect(distance(DAY * 3n + DAY / 2n)).toBe('3.5 days');
    expect(distance(-250n)).toBe('250 microseconds');
    expect(distance(31_556_952n * 412_000_000n)).toBe('412 years');
    expect(distance(DAY * 365n)).toBe('1 year');
    expect(distance(DAY * 30n)).toBe('30 days');
    expect(distance(DAY - 1n)).toBe('1 day');
    expect(distance((DAY * 119n) / 10n)).toBe('12 days');
    expect(distance(0n)).toBe('0 microseconds');
  });
});
