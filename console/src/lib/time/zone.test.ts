import { afterEach, describe, expect, it } from 'vitest';
import { HOUR, parse } from './instant';
import { dateText, momentText, zonedText } from './display';
import { PLACE, isZone, zone } from './zone.svelte';
import { preciseText, whenText } from './when';
import { rangeText } from '../events/words';
import { scale } from '../chart/scale';
import { ticks } from '../chart/ticks';

const at = (text: string): bigint => parse(text)!;

afterEach(() => {
  zone.choice = 'UTC';
  zone.place = null;
});

describe('display zone', () => {
  it('is UTC by default, and otherwise follows its rules for daylight saving time', () => {
    expect(zonedText(at('2028-02-29T08:30:00Z'))).toBe('29 February 2028, 08:30 UTC');
    zone.choice = 'America/New_York';
    expect(zonedText(at('2028-02-29T03:30:00Z'))).toBe('28 February 2028, 22:30 UTC−5');
    expect(zonedText(at('2028-07-01T03:30:00Z'))).toBe('30 June 2028, 23:30 UTC−4');
    zone.choice = '+05:30';
    expect(zonedText(at('2028-07-01T20:00:00Z'))).toBe('2 July 2028, 01:30 UTC+5:30');
  });

  it('is labeled with its offset if that is constant, and otherwise with its name', () => {
    zone.choice = 'America/New_York';
    const spanName = (from: string, to: string): string => zone.span(at(`${from}T00:00:00Z`), at(`${to}T00:00:00Z`));
    expect(spanName('2013-01-01', '2013-02-01')).toBe('UTC−5');
    expect(spanName('2013-03-01', '2013-04-01')).toBe('America/New York');
    // Equal at both ends, but different in summer.
    expect(spanName('2012-12-01', '2014-01-01')).toBe('America/New York');
    zone.choice = '+05:30';
    expect([spanName('2012-12-01', '2013-01-01'), spanName('2012-12-01', '2014-01-01')]).toEqual([
      'UTC+5:30',
      'UTC+05:30',
    ]);
  });

  it('may be the clock’s location, with zone rules or a fixed offset', () => {
    zone.choice = PLACE;
    expect(zonedText(at('2028-07-01T20:00:00Z'))).toBe('1 July 2028, 20:00 UTC');
    zone.place = { name: 'Somewhere', zone: null, offset: 2n * HOUR };
    expect([zone.name, momentText(at('2028-12-01T20:00:00Z'))]).toEqual(['Somewhere', '1 December 2028, 22:00']);
    zone.place = { name: 'Paris', zone: 'Europe/Paris', offset: 2n * HOUR };
    expect(momentText(at('2028-12-01T20:00:00Z'))).toBe('1 December 2028, 21:00');
  });

  it('must be known to the browser', () => {
    expect(['UTC', PLACE, 'Europe/Berlin', '-03:30'].filter((name) => !isZone(name))).toEqual([]);
    expect(['Mars/Olympus', '', '+25:00', '+05:70', '5'].filter(isZone)).toEqual([]);
  });

  it('does not shift dates without a time', () => {
    zone.choice = 'America/New_York';
    const day = { time: '1914-06-28T00:00:00Z', precision: 'day' };
    expect(whenText(day)).toBe('28 June 1914');
    expect(preciseText(at('1914-01-01T00:00:00Z'), 'year')).toBe('1914');
    expect(preciseText(at('2005-08-29T02:10:00Z'), '')).toBe('28 August 2005, 22:10');
    expect(dateText(at('2005-08-29T02:10:00Z'))).toBe('28 August 2005');
    expect(whenText({ time: '2005-08-29T02:10:00Z', end_time: '2005-08-29T03:00:00Z' })).toBe(
      '28 August 2005, 22:10 – 23:00',
    );
  });

  it('applies to ranges and the axis ruler', () => {
    zone.choice = 'Asia/Kolkata';
    const [from, to] = [at('2028-02-29T00:00:00Z'), at('2028-02-29T12:00:00Z')];
    expect(rangeText(from, to)).toBe('29 February 2028, 05:30 – 17:30');
    const view = scale((from + to) / 2n, 0, Number(to - from) / 1_000, 1_000);
    const hours = ticks(view).ticks;
    expect(hours.map(({ label }) => label)).toContain('06:00');
    expect(hours.find(({ label }) => label === '06:00')!.time).toBe(at('2028-02-29T00:30:00Z'));
  });

  it('has ticks at local midnight, including on a 23-hour day', () => {
    zone.choice = 'Europe/Berlin';
    const [from, to] = [at('2028-03-25T00:00:00Z'), at('2028-03-28T00:00:00Z')];
    const days = ticks(scale((from + to) / 2n, 0, Number(to - from) / 300, 300)).ticks;
    const times = new Map(days.map(({ label, time }) => [label, time]));
    expect(times.get('26')).toBe(at('2028-03-25T23:00:00Z'));
    expect(times.get('27')).toBe(at('2028-03-26T22:00:00Z'));
  });
});
