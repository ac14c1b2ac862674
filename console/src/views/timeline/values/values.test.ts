import { describe, expect, it } from 'vitest';
import { fitted } from '../../../lib/chart/scale';
import { EventStore } from '../../../lib/events/store';
import type { Palette } from '../../../lib/chart/palette';
import { linesOf, shareBelow, summarized, valueScale } from './values';
import { measures } from '../attributes/attributes';
import { numberOf, numberText } from '../attributes/numbers';
import { WORDS, paintIntervals, paintTickTexts, yOf } from './values-paint';

const store = (...events: [number, string[], Record<string, unknown>][]): EventStore => {
  const created = new EventStore();
  events.forEach(([day, actors, attributes], index) =>
    created.push({
      event_id: `e${index}`,
      time: `2005-08-${String(day).padStart(2, '0')}T00:00:00Z`,
      description: 'A fix.',
      actors,
      attributes,
    }),
  );
  return created;
};

describe('values of events', () => {
  it('are numbers and numeric strings', () => {
    expect([3, '3', ' -2.5 ', '1e3', '.5'].map(numberOf)).toEqual([3, 3, -2.5, 1000, 0.5]);
    expect(['', '3 kt', 'HU', null, true, NaN, [3], '0x10', '1e999'].map(numberOf)).toEqual(Array(9).fill(null));
  });

  it('are listed by attribute, the most frequent first', () => {
    const { bodies } = store([1, [], { wind: 10, status: 'TS' }], [2, [], { wind: '20', delay: 3 }]);
    expect(measures(bodies)).toEqual(['wind', 'delay']);
  });

  it('have a line per actor, so that values of different actors are not joined', () => {
    const created = store(
      [1, ['Katrina'], { wind: 30 }],
      [2, ['Rita'], { wind: 40 }],
      [3, ['Katrina'], { wind: 150 }],
      [4, ['Katrina'], {}],
    );
    const { lines, count, without, isJoined } = linesOf(created, 'wind', null, [0, 4]);
    expect(lines.map(({ points }) => points.map(({ value }) => value))).toEqual([[30, 150], [40]]);
    expect([count, without, isJoined]).toEqual([3, 1, true]);
  });

  it('are not joined if some events have no actor', () => {
    const created = store([1, ['Katrina'], { wind: 30 }], [2, [], { wind: 40 }]);
    expect(linesOf(created, 'wind', null, [0, 2]).isJoined).toBe(false);
    const quakes = new EventStore();
    for (const name of ['Tokyo', 'Lisbon', 'Valdivia'])
      quakes.push({ event_id: name, time: '1960-05-22T19:11:00Z', name, description: '', attributes: { wind: 9 } });
    expect(linesOf(quakes, 'wind', null, [0, 3])).toMatchObject({ count: 3, isJoined: false });
    expect(linesOf(store([1, [], { wind: 1 }], [2, [], { wind: 2 }]), 'wind', null, [0, 2])).toMatchObject({
      isJoined: true,
      lines: [{ points: [{ value: 1 }, { value: 2 }] }],
    });
  });

  it('of nested attributes are found by their path', () => {
    expect(linesOf(store([1, [], { wind: { max: 7 } }]), 'wind.max', null, [0, 1]).count).toBe(1);
  });
});

describe('an interval', () => {
  const range = { from: 0n, to: 10n };
  it('is summarized from the values that the service counted', () => {
    const groups = new Map([
      ['100', 1],
      ['20', 3],
      ['-999', 1],
      ['none', 2],
    ]);
    expect(summarized(range, groups, true)).toMatchObject({
      low: -999,
      high: 100,
      mean: (60 + 100 - 999) / 5,
      count: 5,
      isAll: true,
    });
  });

  it('without numbers is null', () => {
    expect(summarized(range, new Map([['HU', 4]]), true)).toBeNull();
  });
});

describe('scale of values', () => {
  it('starts at zero unless all values are far from it', () => {
    expect(valueScale(20, 190, 4)).toMatchObject({ low: 0, high: 200, ticks: [0, 50, 100, 150, 200], hasZero: true });
    expect(valueScale(880, 1_010, 3)).toMatchObject({ low: 850, hasZero: false });
    expect(valueScale(-5, 10, 3)).toMatchObject({ low: -5, high: 10, hasZero: true });
  });

  it('does not waste a whole step for a small overlap', () => {
    expect(valueScale(-43, 1_480, 3)).toMatchObject({ low: -200, high: 1_600, ticks: [0, 1_000] });
    expect(valueScale(20, 160, 4)).toMatchObject({ low: 0, high: 160, ticks: [0, 50, 100, 150] });
    expect(valueScale(-0.3, 0.02, 3)).toMatchObject({ low: -0.32, high: 0.04, ticks: [-0.2, 0] });
    for (const [least, most] of [
      [-1, 1e6],
      [3, 3.1],
      [-1e-9, 4e-3],
      [120, 121],
    ] as const) {
      const { low, high, ticks } = valueScale(least, most, 3);
      expect([low <= least, high >= most, ticks.length >= 2]).toEqual([true, true, true]);
      expect(ticks.every((tick) => tick >= low && tick <= high)).toBe(true);
    }
  });

  it('supports a single value, including zero', () => {
    for (const value of [7, 0, -3, 0.001, 1e12]) {
      const { low, high, ticks } = valueScale(value, value, 3);
      expect(low).toBeLessThanOrEqual(value);
      expect(high).toBeGreaterThanOrEqual(value);
      expect(high).toBeGreaterThan(low);
      expect(ticks.length).toBeLessThan(9);
    }
  });

  it('is logarithmic on request, with round ticks, if all values are positive', () => {
    expect(valueScale(3, 40, 3, true)).toMatchObject({ low: 2, high: 50, ticks: [2, 5, 10, 20, 50], isLog: true });
    const wide = valueScale(0.004, 70_000, 3, true);
    expect(wide).toMatchObject({ low: 0.002, high: 100_000, ticks: [0.01, 1, 100, 10_000] });
    expect(shareBelow(wide, 10) - shareBelow(wide, 1)).toBeCloseTo(shareBelow(wide, 1_000) - shareBelow(wide, 100), 9);
    expect([shareBelow(wide, wide.low), shareBelow(wide, wide.high)]).toEqual([0, 1]);
    for (const value of [7, 1, 0.001, 1e12]) {
      const { low, high, ticks } = valueScale(value, value, 3, true);
      expect([low <= value, high >= value, high > low, ticks.length > 0]).toEqual([true, true, true, true]);
    }
    // Zero has no logarithm: the scale is linear.
    expect(valueScale(0, 40, 3, true)).toMatchObject({ low: 0, isLog: false });
    expect(valueScale(3, 40, 3)).toMatchObject({ low: 0, isLog: false });
  });

  it('has ticks without binary rounding errors', () => {
    expect(valueScale(0, 0.3, 3).ticks).toEqual([0, 0.1, 0.2, 0.3]);
  });
});

describe('numbers', () => {
  it('are formatted for display', () => {
    expect([9.5, -40, 1_234_567, 0.00001, 1e12].map(numberText)).toEqual([
      '9.5',
      '−40',
      '1,234,567',
      '1.00e-5',
      '1.00e12',
    ]);
  });
});

it('the largest value is below the text line', () => {
  const scale = valueScale(0, 6, 3);
  expect(scale.high).toBe(6);
  // The ring around a selected dot has a radius of 5.5 and a width of 2.
  expect(yOf(scale, 6) - 6.5).toBeGreaterThan(WORDS);
});

it('the axis labels have the chosen unit', () => {
  const texts: string[] = [];
  const context = {
    fillRect: () => {},
    measureText: () => ({ width: 10 }),
    fillText: (text: string) => void texts.push(text),
  } as unknown as CanvasRenderingContext2D;
  const palette = new Proxy({}, { get: (_, name) => name }) as Palette;
  const sheet = { context, palette, view: fitted(0n, 1_000n, 100), scale: valueScale(0, 150, 3) };
  paintTickTexts(sheet, 'kt');
  expect(texts).toEqual(['0\u00a0kt', '50\u00a0kt', '100\u00a0kt', '150\u00a0kt']);
});

it('intervals end at the last event', () => {
  const widths: number[] = [];
  const context = { fillRect: (_x: number, _y: number, width: number) => widths.push(Math.round(width)) };
  const sheet = {
    context: context as unknown as CanvasRenderingContext2D,
    palette: {} as Palette,
    view: fitted(0n, 1_000n, 1_000, 0),
    scale: valueScale(0, 10, 4),
  };
  const interval = { from: 600n, to: 900n, low: 2, high: 8, mean: 5, count: 1, isAll: true };
  const all = { ...interval, values: [{ value: 5, count: 1 }] };
  paintIntervals(sheet, [all], { from: 0n, to: 2_000n });
  // The line from minimum to maximum has a width of 1.
  expect(new Set(widths.splice(0))).toEqual(new Set([1, 299]));
  paintIntervals(sheet, [all], { from: 0n, to: 701n });
  expect(new Set(widths)).toEqual(new Set([1, 100]));
});

it('gaps in an interval are not shaded: only a thin line joins its minimum and maximum', () => {
  const drawn: { width: number; top: number; bottom: number }[] = [];
  const context = {
    fillRect: (_x: number, y: number, width: number, height: number) =>
      drawn.push({ width, top: y, bottom: y + height }),
  } as unknown as CanvasRenderingContext2D;
  const scale = valueScale(-99, 165, 3);
  const values = [-99, 80, 165].map((value) => ({ value, count: 1 }));
  const interval = { from: 0n, to: 900n, low: -99, high: 165, mean: 49, count: 3, isAll: true, values };
  paintIntervals({ context, palette: {} as Palette, view: fitted(0n, 1_000n, 1_000, 0), scale }, [interval], null);
  const between = yOf(scale, -20);
  const over = drawn.filter(({ top, bottom }) => top <= between && bottom >= between);
  expect(over.map(({ width }) => width)).toEqual([1]);
});
