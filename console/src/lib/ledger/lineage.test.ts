import { expect, it } from 'vitest';
import { lineageOf, placeOf } from './lineage';

const known = new Map([
  ['demo', { fork: null }],
  ['child', { fork: { parent: 'demo', size: 500 } }],
  ['grandchild', { fork: { parent: 'child', size: 5 } }],
  ['stranger', { fork: { parent: 'elsewhere/demo', size: 9 } }],
]);
const at = (timeline: string, position: number): unknown => placeOf(timeline, position, (name) => known.get(name));

it('entry of a timeline without parent is in its own ledger', () => {
  expect(at('demo', 31)).toEqual({ ledger: 'demo', position: 31 });
});

it('entry before the fork is in an ancestor, and later ones are numbered from there', () => {
  expect(at('child', 499)).toEqual({ ledger: 'demo', position: 499 });
  expect(at('child', 500)).toEqual({ ledger: 'child', position: 0 });
  expect(at('grandchild', 31)).toEqual({ ledger: 'demo', position: 31 });
  expect(at('grandchild', 504)).toEqual({ ledger: 'child', position: 4 });
  expect(at('grandchild', 509)).toEqual({ ledger: 'grandchild', position: 4 });
});

it('unknown ancestor is returned by name', () => {
  expect(at('stranger', 3)).toBe('elsewhere/demo');
  expect(at('nobody', 3)).toBe('nobody');
});

it('lineage starts with the oldest known ancestor', () => {
  const of = (timeline: string): readonly string[] => lineageOf(timeline, (name) => known.get(name));
  expect(of('grandchild')).toEqual(['demo', 'child', 'grandchild']);
  expect(of('stranger')).toEqual(['elsewhere/demo', 'stranger']);
  expect(of('nobody')).toEqual(['nobody']);
});
