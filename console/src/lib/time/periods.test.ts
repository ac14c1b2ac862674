import { expect, it } from 'vitest';
import { HOUR } from './instant';
import { PERIODS, lengthOf } from './periods';

it('relative periods have a length, and others have none', () => {
  expect(lengthOf('24h')).toBe(24n * HOUR);
  expect(['custom', '', null, 'always'].map(lengthOf)).toEqual([null, null, null, null]);
  const lengths = PERIODS.map(([id]) => lengthOf(id)!);
  expect(lengths).toEqual([...lengths].sort((a, b) => (a < b ? -1 : 1)));
});
