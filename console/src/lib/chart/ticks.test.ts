import { describe, expect, it } from 'vitest';
import { parse } from '../time/instant';
import { FIRST, LAST, fitted } from './scale';
import { ticks } from './ticks';

const ticksOf = (from: string, to: string, width = 1_000) => {
  const found = ticks(fitted(parse(from)!, parse(to)!, width, 0));
  const inside = found.ticks.filter((tick) => tick.x >= -0.5 && tick.x <= width + 0.5);
  return { labels: inside.map((tick) => tick.label), periods: found.periods.map((period) => period.label), inside };
};

describe('ticks', () => {
  it('count centuries without a year 0', () => {
    const { labels, periods } = ticksOf('-0600-01-01T00:00:00Z', '0600-01-01T00:00:00Z');
    expect(labels).toEqual([
      '600 BCE',
      '500 BCE',
      '400 BCE',
      '300 BCE',
      '200 BCE',
      '100 BCE',
      '1 CE',
      '100',
      '200',
      '300',
      '400',
      '500',
      '600',
    ]);
    expect(periods).toEqual([]);
  });

  it('show months with their year, and days with their month', () => {
    const months = ticksOf('1939-07-01T00:00:00Z', '1940-06-30T00:00:00Z');
    expect(months.labels.slice(0, 7)).toEqual(['Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec', 'Jan']);
    expect(months.periods).toEqual(['1939', '1940']);
    const days = ticksOf('2028-02-26T00:00:00Z', '2028-03-09T00:00:00Z');
    expect(days.labels).toEqual(['26', '27', '28', '29', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
    expect(days.periods).toEqual(['February 2028', 'March 2028']);
  });

  it('show hours below their day, and mark midnight', () => {
    const { labels, periods, inside } = ticksOf('1969-07-20T18:00:00Z', '1969-07-21T06:00:00Z');
    expect(labels).toContain('20:00');
    expect(inside.filter((tick) => tick.isMajor).map((tick) => tick.label)).toEqual(['00:00']);
    expect(periods).toEqual(['20 July 1969', '21 July 1969']);
  });

  it('go down to microseconds', () => {
    const { labels, periods } = ticksOf('1969-07-20T20:17:40.000000Z', '1969-07-20T20:17:40.000024Z');
    expect(labels).toEqual(['20:17:40', '0.005 ms', '0.010 ms', '0.015 ms', '0.020 ms']);
    expect(periods).toEqual(['20 July 1969, 20:17:40']);
  });

  it('leave room for every label at every zoom', () => {
    let view = fitted(FIRST, LAST, 900, 0);
    const tight: number[] = [];
    const counts: number[] = [];
    for (let step = 0; step < 420; step += 1) {
      view = { ...view, center: 0n, pixel: view.pixel * 0.9 };
      if (view.pixel < 1 / 40) break;
      const found = ticks(view).ticks.filter((tick) => tick.x >= 0 && tick.x <= 900);
      counts.push(found.length);
      found.forEach((tick, index) => {
        const gap = index === 0 ? Infinity : tick.x - found[index - 1]!.x;
        // A label of a digit takes 7 pixels or less.
        if (gap < tick.label.length * 7) tight.push(view.pixel);
      });
    }
    expect(tight).toEqual([]);
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(3);
    expect(Math.max(...counts)).toBeLessThanOrEqual(24);
  });
});
