import { describe, expect, it } from 'vitest';
import { timeLabel, pictureOf, wholeTimeline } from './first-picture';

describe('preview bars', () => {
  const group = (key: string, end: string, count: number) => ({ key, end, count });

  it('are placed by time and scaled to the tallest', () => {
    const groups = [
      group('2000-01-01T00:00:00Z', '2000-01-02T00:00:00Z', 1),
      group('2000-01-03T00:00:00Z', '2000-01-04T00:00:00.000001Z', 4),
      group('2000-01-10T00:00:00Z', '2000-01-11T00:00:00Z', 2),
    ];
    const picture = pictureOf([{ count: 7, groups }]);
    expect(picture?.bars.map(({ at }) => Number(at.toFixed(2)))).toEqual([0.06, 0.26, 0.95]);
    expect(picture?.bars.map(({ height }) => height)).toEqual([0.25, 1, 0.5]);
    expect(picture).toMatchObject({ most: 4, from: '2000-01-01T00:00:00Z', to: '2000-01-11T00:00:00Z' });
  });

  it('are null without counts, with incomplete counts or with unsupported dates', () => {
    const one = group('2000-01-01T00:00:00Z', '2000-01-01T00:00:00Z', 3);
    expect(pictureOf([{ count: 3, groups: [one] }])?.bars).toEqual([{ at: 0.505, height: 1 }]);
    expect(pictureOf([{ count: 0, groups: [] }])).toBeNull();
    expect(pictureOf([{ count: 3, groups: [one], next_cursor: 'more' }])).toBeNull();
    const far = group('-999999-01-01T00:00:00Z', '-999998-01-01T00:00:00Z', 1);
    expect(pictureOf([{ count: 4, groups: [far, one] }])).toBeNull();
    const early = group('-000840-01-01T00:00:00Z', '-000769-08-15T21:36:00.000001Z', 1);
    expect(pictureOf([{ count: 4, groups: [early, one] }])?.bars).toHaveLength(2);
  });

  it('cover the counted part of the full time range', () => {
    const first = {
      count: 5,
      groups: [
        group('2000-01-01T00:00:00Z', '2000-01-01T12:00:00Z', 2),
        group('2000-01-01T12:00:00Z', '2000-01-02T00:00:00Z', 3),
      ],
      next_cursor: 'more',
    };
    const last = '2000-04-10T00:00:00Z';
    const part = pictureOf([first], last);
    // 100 days, so one bar per day.
    expect(part).toMatchObject({ bars: [{ at: 0.005, height: 1 }], until: 0.01, count: 5, most: 5, to: last });
    const second = { count: 10, groups: [group('2000-01-02T00:00:00Z', '2000-01-03T00:00:00Z', 10)] };
    const more = pictureOf([first, { ...second, next_cursor: 'more' }], last);
    expect(more?.bars.map(({ height }) => height)).toEqual([0.5, 1]);
    const whole = pictureOf([first, { ...second, groups: [group('2000-01-02T00:00:00Z', last, 10)] }], last);
    expect(whole).toMatchObject({ until: 1, count: 15, bars: [{ height: 0.5 }, { height: 1 }] });
  });
});

describe('preview times', () => {
  it('match the precision of the preview', () => {
    const day = 86_400_000;
    expect(timeLabel('-000840-01-01T00:00:00Z', 1e9 * day)).toBe('841 BCE');
    expect(timeLabel('0000-06-01T00:00:00Z', day)).toBe('1 BCE');
    expect(timeLabel('2005-08-27T06:30:00Z', 1e5 * day)).toBe('2005');
    expect(timeLabel('2005-08-27T06:30:00Z', 100 * day)).toBe('2005-08-27');
    expect(timeLabel('2005-08-27T06:30:00.000001Z', day)).toBe('2005-08-27 06:30');
  });
});

describe('preview timeline in a URL', () => {
  it('is set only for views of a whole timeline', () => {
    expect(wholeTimeline('#/timeline?timeline=a.b%3Ac')).toBe('a.b:c');
    for (const other of ['', '#/', '#/timeline', '#/clock?timeline=a', '#/timeline?timeline=a&view=list'])
      expect(wholeTimeline(other), other).toBeNull();
  });
});
