import { expect, it } from 'vitest';
import { laneHeights } from '../../../lib/chart/bars';
import { lanesWithScale } from './over-paint';

it('a scale shared by all lanes is labeled only on the top lane', () => {
  const shared = laneHeights([12, 90, 31], 3, false, 26);
  expect([...lanesWithScale([2, 0, 1, 3], shared)]).toEqual([2]);
  const rest = laneHeights([12, 90, 31], 54_000, false, 26);
  expect([...lanesWithScale([2, 0, 1, 3], rest)]).toEqual([2, 3]);
  expect([...lanesWithScale([], rest)]).toEqual([]);
});
