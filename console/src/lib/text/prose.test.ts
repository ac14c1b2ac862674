import { describe, expect, it } from 'vitest';
import { proseParts } from './prose';

describe('examples in a sentence', () => {
  it.each([
    [
      'In UTC, or with an offset or a zone: 2028-02-29T09:00[Asia/Tokyo]; or from now: +90m, -P1Y',
      ['2028-02-29T09:00[Asia/Tokyo];', '+90m,', '-P1Y'],
    ],
    ['Such as 28.57, -80.65; for the map', ['-80.65;']],
    ['Letters, digits and . _ - : @, such as billing-2027', ['billing-2027']],
    ['such as 2028-02-01T00:00:00Z/2028-03-01T00:00:00Z, which is longer than a line', []],
    ['Any JSON for the handler', []],
    ['', []],
  ])('%j does not wrap within examples', (text, whole) => {
    const parts = proseParts(text);
    expect(parts.filter(({ kind }) => kind === 'whole').map((part) => part.text)).toEqual(whole);
    expect(parts.map((part) => part.text).join('')).toBe(text);
  });
});

it('text in backticks is code', () => {
  const code = proseParts('Write `P1M-2`, not 1 `month`.').filter(({ kind }) => kind === 'code');
  expect(code.map(({ text }) => text)).toEqual(['P1M-2', 'month']);
});
