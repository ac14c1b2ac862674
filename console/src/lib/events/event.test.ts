import { describe, expect, it } from 'vitest';
import { changes, geoText } from './event';

describe('event versions', () => {
  const before = { event_id: 'e', time: '1969-07-20T20:17:40Z', description: 'A', location: 'Moon' };

  it('are described by their changes', () => {
    expect(
      changes(before, { ...before, time: '1969-07-21T20:17:40Z', description: 'B', location: null, actors: ['x'] }),
    ).toEqual([
      'From 20 July 1969, 20:17:40 to 21 July 1969, 20:17:40',
      'Description changed from “A” to “B”',
      'Place removed',
      'Actors changed',
    ]);
    expect(changes(before, { ...before })).toEqual(['No visible field changed']);
  });

  it('have readable coordinates', () => {
    expect(geoText({ lat: -33.87, lon: 151.21, radius_m: 1_500 })).toBe('33.87° S, 151.21° E, within 1.5 km');
  });
});
