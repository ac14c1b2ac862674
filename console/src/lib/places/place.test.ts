import { describe, expect, it } from 'vitest';
import { parse } from '../time/instant';
import { coordinates, offsetAt, offsetText, pointText, zoneOf } from './place';

describe('places', () => {
  it('are read as coordinates where they are some', () => {
    expect(coordinates('48.85, 2.35')).toEqual({ lat: 48.85, lon: 2.35 });
    expect(coordinates('geo:-33.9,151.2;u=5000')).toEqual({ lat: -33.9, lon: 151.2 });
    expect(coordinates('91,0')).toBeNull();
    expect(coordinates('Paris')).toBeNull();
    expect(pointText({ lat: -33.8688, lon: 151.2 })).toBe('-33.87,151.20');
  });

  it('name a zone in full or by its city', () => {
    expect(zoneOf('europe/paris')).toBe('Europe/Paris');
    expect(zoneOf('New York')).toBe('America/New_York');
    expect(zoneOf('Nowhere')).toBeNull();
  });

  it('have offsets that follow the rules of their zone', () => {
    const at = (zone: string, text: string) => offsetText(offsetAt(zone, parse(text)!));
    expect(at('Europe/Paris', '2028-02-29T00:00:00Z')).toBe('UTC+1');
    expect(at('Europe/Paris', '2028-07-01T00:00:00Z')).toBe('UTC+2');
    expect(at('America/St_Johns', '2028-01-01T00:00:00Z')).toBe('UTC−3:30');
    expect(at('UTC', '2028-01-01T00:00:00Z')).toBe('UTC');
    // Before zones there was local mean time.
    expect(at('Europe/Paris', '1800-01-01T00:00:00Z')).toBe('UTC+0:09:21');
  });
});
