import { describe, expect, it } from 'vitest';
import { parse } from '../time/instant';
import { coordinates, offsetAt, offsetText, pointText, zoneOf } from './place';

describe('place parsing', () => {
  it('parses valid coordinates', () => {
    expect(coordinates('48.85, 2.35')).toEqual({ lat: 48.85, lon: 2.35 });
    expect(coordinates('geo:-33.9,151.2;u=5000')).toEqual({ lat: -33.9, lon: 151.2 });
    expect(coordinates('91,0')).toBeNull();
    expect(coordinates('Paris')).toBeNull();
    expect(pointText({ lat: -33.8688, lon: 151.2 })).toBe('-33.87,151.20');
  });

  it('finds a zone by its full name or city', () => {
    expect(zoneOf('europe/paris')).toBe('Europe/Paris');
    expect(zoneOf('New York')).toBe('America/New_York');
    expect(zoneOf('Nowhere')).toBeNull();
  });

  it('follows daylight saving time in zone offsets', () => {
    const at = (zone: string, text: string) => offsetText(offsetAt(zone, parse(text)!));
    expect(at('Europe/Paris', '2028-02-29T00:00:00Z')).toBe('UTC+1');
    expect(at('Europe/Paris', '2028-07-01T00:00:00Z')).toBe('UTC+2');
    expect(at('America/St_Johns', '2028-01-01T00:00:00Z')).toBe('UTC−3:30');
    expect(at('UTC', '2028-01-01T00:00:00Z')).toBe('UTC');
    // Before zones, local mean time applied.
    expect(at('Europe/Paris', '1800-01-01T00:00:00Z')).toBe('UTC+0:09:21');
  });
});
