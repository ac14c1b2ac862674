import { describe, expect, it } from 'vitest';
import { format, parse } from '../time/instant';
import { STEPS, stepBegin, stepEnd, stepOf } from './steps';

const at = (text: string): bigint => parse(text)!;

describe('bucket size', () => {
  it('is the shortest one of sufficient length', () => {
    expect(stepOf(1).iso).toBe('PT0.000001S');
    expect(stepOf(40e6).iso).toBe('PT1M');
    expect(stepOf(3_600e6 * 5).text).toBe('6 hours');
    expect(stepOf(86_400e6 * 20).iso).toBe('P1M');
    // A year with one season is a single bar.
    expect(stepOf(86_400e6 * 170).iso).toBe('P1Y');
    expect(stepOf(1e30).iso).toBe('P1000Y');
  });

  it('increases, and has a matching ISO duration', () => {
    STEPS.forEach((step, index) => {
      expect(step.micros).toBeGreaterThan(STEPS[index - 1]?.micros ?? 0);
      expect(step.iso).toMatch(/^P(\d+[DMY]|T\d+(\.\d*[1-9])?[HMS])$/);
    });
  });

  it('starts buckets where the service does, including before the common era', () => {
    const begin = (iso: string, text: string): string =>
      format(
        stepBegin(
          STEPS.find((step) => step.iso === iso)!,
          at(text),
        ),
      );
    expect(begin('P1M', '2005-08-29T11:10:00Z')).toBe('2005-08-01T00:00:00Z');
    expect(begin('P20Y', '1969-07-20T20:17:40Z')).toBe('1960-01-01T00:00:00Z');
    expect(begin('P100Y', '-000043-03-15T12:00:00Z')).toBe('-000100-01-01T00:00:00Z');
    expect(begin('PT6H', '1969-12-31T23:00:00Z')).toBe('1969-12-31T18:00:00Z');
    expect(begin('P7D', '1970-01-07T23:59:59Z')).toBe('1970-01-01T00:00:00Z');
  });

  it('ends a bucket where the next one begins', () => {
    for (const step of STEPS) {
      const begin = stepBegin(step, at('2004-02-29T12:34:56.789Z'));
      const end = stepEnd(step, begin);
      expect(stepBegin(step, end - 1n)).toBe(begin);
      expect(stepBegin(step, end)).toBe(end);
    }
  });
});
