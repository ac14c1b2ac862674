import { describe, expect, it } from 'vitest';
import { parse, SECOND } from '../time/instant';
import { FIRST, LAST, paddedScale, fitted, panned, scale, split, timeAt, xOf, zoomed } from './scale';

const at = (text: string): bigint => parse(text)!;

describe('time scale', () => {
  it('keeps the instant at the pointer while zooming, from the whole calendar to a microsecond', () => {
    const moment = at('1969-07-20T20:17:40.123457Z');
    let view = fitted(FIRST, LAST, 1_000, 0);
    view = panned(view, xOf(view, moment) - 613);
    for (let step = 0; step < 200; step += 1) view = zoomed(view, 0.8, xOf(view, moment));
    expect(view.pixel).toBeLessThan(0.03);
    expect(timeAt(view, xOf(view, moment))).toBe(moment);
    expect(xOf(view, moment + 1n) - xOf(view, moment)).toBeCloseTo(1 / view.pixel, 6);
  });

  it('returns exactly to the start of a drag', () => {
    const start = scale(at('0001-01-01T00:00:00.000001Z'), 0.25, 0.37, 800);
    let view = start;
    for (let step = 0; step < 50; step += 1) view = panned(view, 3);
    for (let step = 0; step < 50; step += 1) view = panned(view, -3);
    expect(view.center).toBe(start.center);
    expect(view.fraction).toBeCloseTo(start.fraction, 6);
  });

  it('stays within the calendar and the zoom limits', () => {
    const view = panned(fitted(0n, 1_000_000n, 1_000), -1e15);
    expect(view.center).toBe(FIRST);
    const all = panned(zoomed(view, 1e30, 0), 1e9);
    expect([xOf(all, FIRST) <= 60, xOf(all, LAST) >= 940]).toEqual([true, true]);
    expect(zoomed(view, 1e30, 0).pixel).toBeLessThan((Number(LAST - FIRST) / 1_000) * 1.06);
    expect(zoomed(view, 1e-30, 0).pixel).toBe(1 / 40);
  });

  it('fits a range with margins, and a single instant into an hour', () => {
    const view = fitted(at('1914-01-01T00:00:00Z'), at('1945-01-01T00:00:00Z'), 1_000, 0.1);
    expect(xOf(view, at('1914-01-01T00:00:00Z'))).toBeCloseTo(100, 3);
    expect(xOf(view, at('1945-01-01T00:00:00Z'))).toBeCloseTo(900, 3);
    const moment = fitted(5n, 5n, 1_000, 0);
    expect(moment.center).toBe(5n);
    expect(moment.pixel * 1_000).toBe(3_600e6);
  });

  it('leaves room for labels at the left, on phones too', () => {
    const [from, to] = [at('2013-01-01T00:00:00Z'), at('2014-01-01T00:00:00Z')];
    for (const width of [320, 366, 1_000, 1_100, 2_400]) {
      const view = paddedScale(from, to, width);
      expect(xOf(view, from), `at ${width}`).toBeGreaterThan(45);
      expect(xOf(view, to), `at ${width}`).toBeLessThan(width - 10);
      expect(view.width).toBe(width);
    }
    expect(paddedScale(from, to, 1_300)).toEqual(fitted(from, to, 1_300));
  });

  it('splits instants without loss, including before 1970', () => {
    for (const instant of [FIRST, LAST, -1n, 0n, 1_999_999n]) {
      const { seconds, micros } = split(instant);
      expect(BigInt(seconds) * SECOND + BigInt(micros)).toBe(instant);
      expect(micros).toBeGreaterThanOrEqual(0);
    }
  });
});
