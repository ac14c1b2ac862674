import { describe, expect, it } from 'vitest';
import { distance } from '../../../lib/time/instant';
import { axisPlace, axisReach, axisTicks, relation } from './anchors';

const HOUR = 3_600_000_000n;

describe('the axis of anchors', () => {
  it('has now at the center and the farthest mark at an end', () => {
    const reach = axisReach([-48n * HOUR, HOUR]);
    for (const isLog of [false, true]) {
      expect(axisPlace(0n, { reach, isLog })).toBe(0.5);
      expect(axisPlace(-48n * HOUR, { reach, isLog })).toBe(0);
      expect(axisPlace(48n * HOUR, { reach, isLog })).toBe(1);
    }
  });

  it('is linear by default: twice the distance is twice as far', () => {
    const axis = { reach: axisReach([-48n * HOUR]), isLog: false };
    expect(axisPlace(24n * HOUR, axis) - 0.5).toBeCloseTo(0.25, 9);
    expect(axisPlace(-12n * HOUR, axis) - 0.5).toBeCloseTo(-0.125, 9);
    expect(axisPlace(HOUR, { ...axis, isLog: true })).toBeGreaterThan(0.6);
  });

  it('keeps marks in order over the whole calendar if logarithmic', () => {
    const distance = [1n, 1_000_000n, HOUR, 24n * HOUR, 8_766n * HOUR, 100_000_000n * HOUR];
    const places = distance.map((each) => axisPlace(each, { reach: axisReach(distance), isLog: true }));
    expect([...places].sort((a, b) => a - b)).toEqual(places);
    expect(new Set(places).size).toBe(places.length);
  });

  it('labels few distances, and none beyond its end', () => {
    for (const reach of [axisReach([]), 5e11, Number(200_000n * HOUR), Number(100_000_000n * HOUR), 6e17])
      for (const isLog of [false, true]) {
        const places = axisTicks({ reach, isLog }).map((tick) => axisPlace(tick.micros, { reach, isLog }));
        expect(places.length).toBeGreaterThan(0);
        expect(places.length).toBeLessThanOrEqual(4);
        expect(Math.max(...places)).toBeLessThanOrEqual(1);
      }
  });

  it('labels round distances', () => {
    const names = (reach: number): string[] => axisTicks({ reach, isLog: false }).map(({ name }) => name);
    expect(names(axisReach([]))).toEqual(['1 day', '2 days']);
    expect(names(Number(9_000n * HOUR))).toEqual(['4 months', '8 months', '12 months']);
    expect(names(Number(200_000n * HOUR))).toEqual(['10 years', '20 years']);
  });

  it('formats the distance of a mark', () => {
    expect(relation(-3n * HOUR, distance)).toBe('3 hours ago');
    expect(relation(HOUR, distance)).toBe('in 1 hour');
    expect(relation(5n, distance)).toBe('now');
  });
});
