import { describe, expect, it } from 'vitest';
import { parse } from '../time/instant';
import { boxParam, parseBox, parseRange } from '../address/ranges';
import { boxText, parseView, viewParams } from './address';
import { scale } from '../chart/scale';
import { rangeParam } from './words';

const at = (text: string): bigint => parse(text)!;

describe('view parameters', () => {
  it('survive a round trip', () => {
    const range = { from: at('-000043-03-15T00:00:00Z'), to: at('1969-07-20T20:17:40.000001Z') };
    expect(parseRange(rangeParam(range.from, range.to))).toEqual(range);
    const box = { west: 170, south: -30.5, east: -170, north: 0 };
    expect(parseBox(boxParam(box))).toEqual(box);
    const view = parseView(
      ...(Object.values(viewParams(scale(at('1969-07-20T20:17:40Z'), 0, 1.25e6, 800))) as [string, string]),
    )!;
    expect(view.pixel).toBe(1.25e6);
    expect(Math.abs(Number(view.center - at('1969-07-20T20:17:40Z')))).toBeLessThanOrEqual(1.25e6);
  });

  it('are null if they are invalid', () => {
    for (const text of [null, '', 'x', '2000-01-01T00:00:00Z', '2001-01-01T00:00:00Z/2000-01-01T00:00:00Z'])
      expect(parseRange(text)).toBeNull();
    for (const text of [null, '', '1,2,3', '1,2,3,4,5', '0,50,0,40', '0,0,181,1', '1,,3,4'])
      expect(parseBox(text)).toBeNull();
    for (const [center, zoom] of [
      [null, null],
      ['2000-01-01T00:00:00Z', '0'],
      ['never', '1'],
    ] as const)
      expect(parseView(center, zoom)).toBeNull();
  });

  it('name a box', () => {
    expect(boxText({ west: -41, south: 16, east: 67, north: 64 })).toBe('16° N to 64° N, 41° W to 67° E');
  });
});
