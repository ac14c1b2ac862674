import { describe, expect, it } from 'vitest';
import { durationIssue, durationWords, readDuration, shift } from './duration';
import { HOUR, MINUTE, format, parse } from './instant';

const read = (text: string) => {
  const got = readDuration(text);
  return got.ok ? got.duration : got.problem;
};
const moved = (from: string, text: string, sign: 1 | -1) => {
  const got = readDuration(text);
  return got.ok ? format(shift(parse(from)!, got.duration, sign)) : got.problem;
};

describe('durations', () => {
  it('are parsed like in the API', () => {
    expect(read('90m')).toEqual({ months: 0, micros: 90n * MINUTE });
    expect(read('1.5h')).toEqual({ months: 0, micros: 90n * MINUTE });
    expect(read('1d12h')).toEqual({ months: 0, micros: 36n * HOUR });
    expect(read('PT2H')).toEqual({ months: 0, micros: 2n * HOUR });
    expect(read('P1Y2M1DT30M')).toEqual({ months: 14, micros: 24n * HOUR + 30n * MINUTE });
    expect(read('0.000001s')).toEqual({ months: 0, micros: 1n });
    expect(read('1s500ms')).toEqual({ months: 0, micros: 1_500_000n });
    expect(read('3us')).toEqual({ months: 0, micros: 3n });
    expect(read('3\u{b5}s')).toEqual({ months: 0, micros: 3n });
    expect(read('1 year, 2 months, and 3 days')).toEqual({ months: 14, micros: 72n * HOUR });
    expect(read('30 minutes and 2 Hrs')).toEqual({ months: 0, micros: 150n * MINUTE });
    expect(read('1.5 days 12h')).toEqual({ months: 0, micros: 48n * HOUR });
  });

  it('are rejected with a suggestion', () => {
    expect(read('')).toMatch(/such as 90m/);
    expect(read('0s')).toMatch(/longer than zero/);
    expect(read('-1h')).toMatch(/sign/);
    expect(read('1h30')).toMatch(/unit of 30/);
    expect(read('1d1M')).toMatch(/1m for minutes/);
    expect(read('1.5 months')).toMatch(/whole/);
    expect(read('1m1h')).toMatch(/largest first/);
    expect(read('1us1ms')).toMatch(/largest first/);
    expect(read('P1.5Y')).toMatch(/whole/);
    expect(read('P1H')).toMatch(/T before hours/);
    expect(read('2 fortnights')).toMatch(/Unknown unit/);
    expect(read('1.5d12h')).toMatch(/last number/);
    expect(read('P1.0DT12H')).toMatch(/last number/);
    expect(read('P4294967296M')).toMatch(/too long/);
    expect(read(`${'0'.repeat(63)}1s`)).toMatch(/at most 64/);
  });

  it.each([
    '90m',
    '1.5h',
    '2w',
    'P2W',
    'P1Y2M10DT2H30M',
    'PT0.5S',
    'PT0,5S',
    'P1D',
    'P4294967295M',
    '1y',
    '1d 12h',
    '.5h',
    ' 1h ',
  ])('include %j', (text) => expect(durationIssue(text)).toBeNull());

  // Same cases as the service tests (`duration/tests.rs`).
  it.each([
    'P',
    'PT',
    'P1DT',
    'T2H',
    'p1m',
    'pt2h',
    '1.h',
    '2,hours',
    '2 hours,, 1 minute',
    '2 hours and',
    'and 2 hours',
    '2 hours or 3 hours',
    '1..5h',
    '1,5h',
    '1_000s',
    '90',
    'm',
    '5M',
  ])('exclude %j', (text) => expect(durationIssue(text)).not.toBeNull());

  it('are added on the calendar', () => {
    expect(moved('2028-02-29T00:00:00Z', 'P1Y', 1)).toBe('2029-02-28T00:00:00Z');
    expect(moved('2028-01-31T00:00:00Z', 'P1M', 1)).toBe('2028-02-29T00:00:00Z');
    expect(moved('0001-01-15T00:00:00Z', 'P1M', -1)).toBe('0000-12-15T00:00:00Z');
    expect(moved('2028-03-01T00:00:00Z', '1d', -1)).toBe('2028-02-29T00:00:00Z');
  });

  it('have readable texts', () => {
    const words = (text: string) => {
      const got = readDuration(text);
      return got.ok ? durationWords(got.duration) : '';
    };
    expect(words('1d12h')).toBe('1 day 12 hours');
    expect(words('P1Y1M')).toBe('1 year 1 month');
    expect(words('2w')).toBe('2 weeks');
    expect(words('10d')).toBe('10 days');
    expect(words('1500s')).toBe('25 minutes');
  });
});
