import { expect, it } from 'vitest';
import { partOf } from './part';

it('a percentage is never rounded to all or none', () => {
  expect(partOf(0, 0)).toBeNull();
  expect(partOf(0, 10)).toBe('0%');
  expect(partOf(1, 3)).toBe('33%');
  expect(partOf(1, 30)).toBe('3.3%');
  expect(partOf(1, 100_000)).toBe('less than 0.1%');
  expect(partOf(996, 1_000)).toBe('99.6%');
  expect(partOf(99_999, 100_000)).toBe('more than 99.9%');
  expect(partOf(10, 10)).toBe('100%');
  expect(partOf(25, 10)).toBe('250%');
});
