import { describe, expect, it } from 'vitest';
import { parse } from './instant';
import { lengthText, stretchText, whenText } from './when';

describe('event times', () => {
  it('are as precise as known', () => {
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
    expect(whenText({ time: '2005-08-29T00:00:00Z' })).toBe('29 August 2005, 00:00');
    expect(whenText({ time: '2005-08-29T00:00:00Z', precision: 'day' })).toBe('29 August 2005');
  });
});

describe('time range', () => {
  it('is shortened to a whole year, month or day', () => {
    const text = (from: string, to: string): string => stretchText(parse(from)!, parse(to)!);
    expect(text('0315-01-01T00:00:00Z', '0315-12-31T23:59:59.999999Z')).toBe('315');
    expect(text('2005-02-01T00:00:00Z', '2005-02-28T23:59:59.999999Z')).toBe('February 2005');
    expect(text('0330-05-12T00:00:00Z', '0330-05-12T23:59:59.999999Z')).toBe('12 May 330');
    expect(text('2005-02-01T00:00:00Z', '2005-03-03T23:59:59.999999Z')).toBe('1 February 2005 – 3 March 2005');
    expect(text('2005-02-01T00:00:00Z', '2005-02-01T08:30:00Z')).toBe('1 February 2005 – 1 February 2005, 08:30');
    expect(text('2005-02-01T08:30:00Z', '2005-02-01T08:30:00Z')).toBe('1 February 2005, 08:30');
  });
});
