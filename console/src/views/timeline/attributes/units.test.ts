import { expect, it } from 'vitest';
import { withUnit } from './numbers';
import { unitsOf, unitsParam } from './units';

it('attribute units are parsed from and written to the address', () => {
  const units = new Map([
    ['max_wind_kt', 'kt'],
    ['a=b, c', 'm/s'],
  ]);
  expect(unitsParam(units)).toBe('max_wind_kt=kt,a=b\\, c=m/s');
  expect(unitsOf(unitsParam(units))).toEqual(units);
  expect(unitsOf(null)).toEqual(new Map());
  expect(unitsOf('wind,=kt,rain= ,delay=min')).toEqual(new Map([['delay', 'min']]));
});

it('empty attribute units are removed', () => {
  expect(unitsParam(new Map([['wind', ' ']]))).toBeNull();
  expect(unitsParam(new Map([['wind', 'k=t']]))).toBe('wind=kt');
});

it('a unit is placed after the number', () => {
  expect(withUnit('40', 'kt')).toBe('40\u00a0kt');
  expect(withUnit('40', '%')).toBe('40%');
  expect(withUnit('40', '°C')).toBe('40°C');
  expect(withUnit('40', '')).toBe('40');
});
