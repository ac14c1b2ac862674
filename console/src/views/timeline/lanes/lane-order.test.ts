import { expect, it } from 'vitest';
import type { Legend } from '../groups/groups';
import { fromTop, lanePlaces, movedBefore, placesOf } from './lane-order';

const legend = (classes: Legend['classes'], ...keys: string[]): Legend => {
  const groups = keys.map((key) => ({ key, count: 1 }));
  return { by: 'source', groups, all: groups, classes, others: 0, isAbout: false, hasSeveral: false };
};

it('placesOf puts reordered lanes first and keeps the others in order', () => {
  expect(placesOf(['A', 'B', 'C'], [])).toEqual([0, 1, 2]);
  expect(placesOf(['A', 'B', 'C'], ['C'])).toEqual([1, 2, 0]);
  // A pinned lane is listed twice.
  expect(placesOf(['A', 'B', 'C'], ['C', 'B', 'C', 'A'])).toEqual([2, 1, 0]);
  // A lane that is not in view now has no place.
  expect(placesOf(['A', 'B', 'C'], ['X', 'C', 'A'])).toEqual([1, 2, 0]);
});

it('lanePlaces keeps ungrouped events last, and classes of numbers in order', () => {
  expect(lanePlaces(legend(null, 'A', 'B'), ['B'], 3)).toEqual([1, 0, 2]);
  expect(lanePlaces(legend({ size: 10, first: 0, last: 1 }, '0', '10'), ['10'], 2)).toEqual([0, 1]);
});

it('fromTop returns the lanes from top to bottom', () => {
  expect(fromTop([1, 2, 0])).toEqual([2, 0, 1]);
});

it('movedBefore moves a lane before another, or to the end', () => {
  const keys = ['A', 'B', 'C'];
  expect(movedBefore(keys, 2, 0)).toEqual(['C', 'A', 'B']);
  expect(movedBefore(keys, 0, 3)).toEqual(['B', 'C', 'A']);
  expect(movedBefore(keys, 0, 2)).toEqual(['B', 'A', 'C']);
  expect(movedBefore(keys, 1, 1)).toEqual(keys);
  expect(movedBefore(keys, 1, 2)).toEqual(keys);
});
