import { expect, it } from 'vitest';
import { parseMapParts } from '../../../lib/address/ranges';
import { spotOf } from './spot';

it('is where a place is that the service knows', () => {
  const spot = spotOf({ kind: 'near', place: 'Reykjavík, Capital Region, Iceland', lat: 64.13548, lon: -21.89541 });
  expect(spot?.name).toBe('Reykjavík, Capital Region, Iceland');
  expect(parseMapParts(spot!.map)).toEqual({ lat: 64.135, lon: -21.895, zoom: 14 });
});

it('is nowhere of a country, or of a text that is no place', () => {
  expect(spotOf({ kind: 'area', place: 'France' })).toBeNull();
  expect(spotOf({ kind: 'text' })).toBeNull();
});
