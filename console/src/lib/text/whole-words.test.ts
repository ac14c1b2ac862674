import { describe, expect, it } from 'vitest';
import { wholeWords } from './whole-words';

describe('examples in a sentence', () => {
  const whole = (text: string): string[] => wholeWords(text).flatMap((part) => (part.isWhole ? [part.text] : []));

  it('are kept whole, unlike the surrounding text', () => {
    const hint = 'In UTC, or with an offset or a zone: 2028-02-29T09:00[Asia/Tokyo]; or from now: +90m, -P1Y';
    expect(whole(hint)).toEqual(['2028-02-29T09:00[Asia/Tokyo];', '+90m,', '-P1Y']);
    expect(whole('Such as 28.57, -80.65; for the map')).toEqual(['-80.65;']);
    expect(whole('Letters, digits and . _ - : @, such as billing-2027')).toEqual(['billing-2027']);
    expect(whole('Any JSON for the handler')).toEqual([]);
  });

  it('may wrap if they are longer than a line', () => {
    expect(whole('such as 2028-02-01T00:00:00Z/2028-03-01T00:00:00Z')).toEqual([]);
  });

  it('keep all characters', () => {
    for (const text of ['', 'Write a date, or a step from now such as +90m.', ' two  blanks 2028-02-29 '])
      expect(
        wholeWords(text)
          .map((part) => part.text)
          .join(''),
      ).toBe(text);
  });
});
