import { expect, it } from 'vitest';
import { lineageOf, placeOf } from './lineage';

const known = new Map([
  ['demo', { fork: null }],
  ['child', { fork: { parent: 'demo', size: 500 } }],
  ['grandchild', { fork: { parent: 'child', size: 5 } }],
  ['stranger', { fork: { parent: 'elsewhere/demo', size: 9 } }],
]);
const at = (timeline: string, position: number): unknown => placeOf(timeline, position, (name) => known.get(name));

it('is the own ledger of what is no fork', () => {
  expect(at('demo', 31)).toEqual({ ledger: 'demo', position: 31 });
});

it('is an ancestor up to where the fork begins, and counts anew from there', () => {
  expect(at('child', 499)).toEqual({ ledger: 'demo', position: 499 });
  expect(at('child', 500)).toEqual({ ledger: 'child', position: 0 });
  expect(at('grandchild', 31)).toEqual({ ledger: 'demo', position: 31 });
  expect(at('grandchild', 504)).toEqual({ ledger: 'child', position: 4 });
  expect(at('grandchild', 509)).toEqual({ ledger: 'grandchild', position: 4 });
});

it('names the ancestor that is not known', () => {
  expect(at('stranger', 3)).toBe('elsewhere/demo');
  expect(at('nobody', 3)).toBe('nobody');
});

it('is told from the oldest on, as far as that is known', () => {
  const of = (timeline: string): readonly string[] => lineageOf(timeline, (name) => known.get(name));
  expect(of('grandchild')).toEqual(['demo', 'child', 'grandchild']);
  expect(of('stranger')).toEqual(['elsewhere/demo', 'stranger']);
  expect(of('nobody')).toEqual(['nobody']);
});
