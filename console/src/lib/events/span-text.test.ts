import { expect, it } from 'vitest';
import { parse } from '../time/instant';
import { spanText } from './span-text';
import { rangeText } from './words';

const text = (from: string, to: string): string => {
  const [first, last] = [parse(from)!, parse(to)!];
  return `${rangeText(first, last)}: ${spanText(first, last)}`;
};

it('span text matches the displayed dates', () => {
  expect(text('1843-11-30T00:00:00Z', '2033-02-01T00:00:00Z')).toBe('1843 – 2033: 190 years');
  expect(text('1843-01-02T00:00:00Z', '2033-12-30T00:00:00Z')).toBe('1843 – 2033: 190 years');
  expect(text('-000043-03-15T00:00:00Z', '0033-01-01T00:00:00Z')).toBe('44 BCE – 33: 76 years');
  expect(text('1990-03-31T00:00:00Z', '1990-09-01T00:00:00Z')).toBe('March 1990 – September 1990: 6 months');
  expect(text('1990-03-31T00:00:00Z', '1992-09-01T00:00:00Z')).toBe('March 1990 – September 1992: 2.5 years');
  expect(text('2005-08-23T23:00:00Z', '2005-08-30T01:00:00Z')).toBe('23 August 2005 – 30 August 2005: 7 days');
});

it('span text with times of day has full precision', () => {
  expect(text('1969-07-20T20:00:00Z', '1969-07-20T23:30:00Z')).toBe('20 July 1969, 20:00 – 23:30: 3.5 hours');
});

it('span text of a whole year or month is that unit', () => {
  expect(text('2005-01-01T00:00:00Z', '2006-01-01T00:00:00Z')).toBe('2005: 1 year');
  expect(text('2005-12-01T00:00:00Z', '2006-01-01T00:00:00Z')).toBe('December 2005: 1 month');
});
