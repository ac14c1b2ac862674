import { describe, expect, it } from 'vitest';
import { distance } from '../../lib/instant';
import { axisPlace, axisReach, axisTicks, relation } from './anchors';

const HOUR = 3_600_000_000n;

describe('the axis of anchors', () => {
  it('has now in the middle and the farthest mark at an end', () => {
    const reach = axisReach([-48n * HOUR, HOUR]);
    expect(axisPlace(0n, reach)).toBe(0.5);
    expect(axisPlace(-48n * HOUR, reach)).toBe(0);
    expect(axisPlace(48n * HOUR, reach)).toBe(1);
    const near = axisPlace(HOUR, reach);
    expect(near).toBeGreaterThan(0.5);
    expect(near).toBeLessThan(1);
  });

  it('keeps marks in order over all of the calendar', () => {
    const away = [1n, 1_000_000n, HOUR, 24n * HOUR, 8_766n * HOUR, 100_000_000n * HOUR];
    const places = away.map((each) => axisPlace(each, axisReach(away)));
    expect([...places].sort((a, b) => a - b)).toEqual(places);
    expect(new Set(places).size).toBe(places.length);
  });

  it('labels few distances, and none beyond its end', () => {
    for (const reach of [axisReach([]), Number(200_000n * HOUR), Number(100_000_000n * HOUR)]) {
      const places = axisTicks(reach).map((tick) => axisPlace(tick.micros, reach));
      expect(places.length).toBeGreaterThan(0);
      expect(places.length).toBeLessThanOrEqual(4);
      expect(Math.max(...places)).toBeLessThanOrEqual(1);
    }
  });

  it('says how far away a mark is', () => {
    expect(relation(-3n * HOUR, distance)).toBe('3 hours ago');
    expect(relation(HOUR, distance)).toBe('in 1 hour');
    expect(relation(5n, distance)).toBe('now');
  });
});
