import { describe, expect, it } from 'vitest';
import { parse } from '../time/instant';
import { countText, rangeText } from './words';

const at = (text: string): bigint => parse(text)!;

describe('time texts', () => {
  it('show a range with a precision that fits its length', () => {
    expect(rangeText(at('-000499-01-01T00:00:00Z'), at('0500-01-01T00:00:00Z'))).toBe('500 BCE – 500');
    expect(rangeText(at('2005-01-01T00:00:00Z'), at('2006-01-01T00:00:00Z'))).toBe('2005');
    expect(rangeText(at('2005-12-01T00:00:00Z'), at('2006-01-01T00:00:00Z'))).toBe('December 2005');
    expect(rangeText(at('2005-12-31T00:00:00Z'), at('2006-01-01T00:00:00Z'))).toBe('31 December 2005');
    expect(rangeText(at('1969-01-01T00:00:00Z'), at('1969-07-01T00:00:00Z'))).toBe('January 1969 – July 1969');
    expect(rangeText(at('1969-07-20T20:00:00Z'), at('1969-07-20T23:30:00Z'))).toBe('20 July 1969, 20:00 – 23:30');
    expect(rangeText(at('1969-07-20T20:17:40Z'), at('1969-07-20T20:17:40.00005Z'))).toBe(
      '20 July 1969, 20:17:40.000000 – 20:17:40.000050',
    );
  });

  it('count nouns', () => {
    expect([countText(1, 'event'), countText(100_000, 'event')]).toEqual(['1 event', '100,000 events']);
  });
});
