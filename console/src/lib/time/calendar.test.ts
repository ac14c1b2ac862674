import { describe, expect, it } from 'vitest';
import { addMonths, dayOfYear, fullDate, isoWeek, monthPage, parseMomentInput, weekdayIndex } from './calendar';
import { civilFromDays, daysFromCivil, format, parse } from './instant';

const at = (text: string) => parse(text)!;

describe('calendar', () => {
  it('returns weekdays', () => {
    expect(fullDate(at('2028-02-29T12:00:00Z'))).toBe('Tuesday, 29 February 2028');
    expect(fullDate(at('1969-07-20T20:17:40Z'))).toBe('Sunday, 20 July 1969');
    expect(fullDate(at('0000-01-01T00:00:00Z'))).toBe('Saturday, 1 January 1 BCE');
  });

  it('returns the day and the week of the year', () => {
    expect(dayOfYear(at('2028-12-31T23:59:59Z'))).toEqual({ day: 366, days: 366 });
    expect(isoWeek(at('2027-01-01T00:00:00Z'))).toBe(53);
    expect(isoWeek(at('2024-12-30T00:00:00Z'))).toBe(1);
    expect(isoWeek(at('2028-02-29T00:00:00Z'))).toBe(9);
  });

  it('shows whole weeks around a month', () => {
    const page = monthPage(2028, 2);
    expect(page).toHaveLength(6);
    expect(weekdayIndex(page[0]![0]!)).toBe(0);
    expect(page.flat()).toContain(daysFromCivil(2028, 2, 29));
    expect(page[0]).toContain(daysFromCivil(2028, 2, 1));
  });

  it('clamps month steps to short months and to the calendar', () => {
    expect(civilFromDays(addMonths(daysFromCivil(2028, 3, 31), -1))).toEqual({ year: 2028, month: 2, day: 29 });
    expect(civilFromDays(addMonths(daysFromCivil(0, 1, 5), -1))).toEqual({ year: -1, month: 12, day: 5 });
    expect(addMonths(daysFromCivil(9999, 12, 5), 1)).toBe(daysFromCivil(9999, 12, 31));
  });

  it('parses typed moments', () => {
    const now = at('2028-02-29T08:30:00Z');
    const read = (text: string) => {
      const understood = parseMomentInput(text, now);
      return understood && format(understood.instant);
    };
    expect(read('2005-08-29')).toBe('2005-08-29T00:00:00Z');
    expect(read('2005-08-29 11:10')).toBe('2005-08-29T11:10:00Z');
    expect(read('-0043-03-15')).toBe('-000043-03-15T00:00:00Z');
    expect(read('+1d')).toBe('2028-03-01T08:30:00Z');
    expect(read('-P1M')).toBe('2028-01-29T08:30:00Z');
    expect(read('+P9000Y')).toBeNull();
    expect(read('someday')).toBeNull();
  });
});
