import { describe, expect, it } from 'vitest';
import { parse } from '../time/instant';
import { elevation, subsolar, sunDay } from './sun';

const at = (text: string) => parse(text)!;

describe('sun position', () => {
  // Equinoxes and solstices of 2024 and 2000 from the USNO.
  it('crosses the equator at the equinox and turns at the solstice', () => {
    expect(subsolar(at('2024-03-20T03:06:00Z')).declination).toBeCloseTo(0, 1);
    expect(subsolar(at('2024-06-20T20:51:00Z')).declination).toBeCloseTo(23.44, 1);
    expect(subsolar(at('2000-12-21T13:37:00Z')).declination).toBeCloseTo(-23.44, 1);
  });

  it('is over Greenwich around noon', () => {
    expect(Math.abs(subsolar(at('2024-04-15T12:00:00Z')).longitude)).toBeLessThan(0.3);
    // The equation of time is about 16 minutes, 4 degrees, in early November.
    expect(subsolar(at('2024-11-03T12:00:00Z')).longitude).toBeCloseTo(-4.1, 0);
  });

  it('matches sunrise and sunset of the almanac', () => {
    // Greenwich, 2024-06-20: 04:43 and 21:21 BST, which is 03:43 and 20:21 UTC.
    const { rise, set } = sunDay(at('2024-06-20T00:00:00Z'), 51.48, 0);
    expect(rise! * 24).toBeCloseTo(3 + 43 / 60, 1);
    expect(set! * 24).toBeCloseTo(20 + 21 / 60, 1);
  });

  it('does not set in northern midsummer or rise in midwinter', () => {
    const summer = sunDay(at('2024-06-21T00:00:00Z'), 78.2, 15.6);
    expect(summer).toMatchObject({ rise: null, set: null });
    expect(Math.min(...summer.curve)).toBeGreaterThan(0);
    expect(Math.max(...sunDay(at('2024-12-21T00:00:00Z'), 78.2, 15.6).curve)).toBeLessThan(0);
  });

  it('is defined at the ends of the calendar', () => {
    for (const text of ['-9999-01-01T12:00:00Z', '9999-12-31T12:00:00Z']) {
      const height = elevation(at(text), 0, 0);
      expect(height).toBeGreaterThan(-90);
      expect(height).toBeLessThan(90);
    }
  });
});
