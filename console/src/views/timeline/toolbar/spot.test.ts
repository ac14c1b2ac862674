import { expect, it } from 'vitest';
import { parseMapParts } from '../../../lib/address/ranges';
import { spotOf } from './spot';

it('a spot is the location of a place that the service knows', () => {
  const spot = spotOf({ kind: 'near', place: 'Reykjavík, Capital Region, Iceland', lat: 64.13548, lon: -21.89541 });
  expect(spot?.name).toBe('Reykjavík, Capital Region, Iceland');
  expect(parseMapParts(spot!.map)).toEqual({ lat: 64.135, lon: -21.895, zoom: 14 });
});

it('a spot is null for a country, and for a text that is not a place', () => {
  expect(spotOf({ kind: 'area', place: 'France' })).toBeNull();
  expect(spotOf({ kind: 'text' })).toBeNull();
});
