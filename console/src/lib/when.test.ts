import { describe, expect, it } from 'vitest';
import { lengthText, whenText } from './when';

describe('times in words', () => {
  it('are as exact as is known', () => {
    expect(whenText({ time: '-000043-03-15T12:00:00Z', precision: 'year' })).toBe('44 BCE');
    expect(whenText({ time: '1969-07-01T00:00:00Z', precision: 'month' })).toBe('July 1969');
    expect(whenText({ time: '1914-07-28T00:00:00Z', end_time: '1918-11-11T00:00:00Z', precision: 'day' })).toBe(
      '28 July 1914 – 11 November 1918',
    );
    expect(whenText({ time: '2018-07-11T04:08:08.552037Z', end_time: '2018-07-11T04:08:08.567925Z' })).toBe(
      '11 July 2018, 04:08:08.552037 – 04:08:08.567925',
    );
    expect(lengthText({ time: '2018-07-11T04:08:08.5Z', end_time: '2018-07-11T04:08:08.75Z' })).toBe(
      '250 milliseconds',
    );
    expect(whenText({ time: '1969-07-20T20:17:40.5Z' })).toBe('20 July 1969, 20:17:40.5');
  });
});
