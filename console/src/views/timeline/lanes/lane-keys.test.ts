import { describe, expect, it } from 'vitest';
import { keysOf, keysParam } from './lane-keys';

describe('lane keys in the address', () => {
  it('round-trip with any content', () => {
    for (const keys of [['UA', 'B6'], [''], ['', ''].slice(1), ['a,b', 'c\\', '\\-', '-'], ['*', 'New York, NY', '']])
      expect(keysOf(keysParam(keys))).toEqual(keys);
    expect(keysParam(['UA', 'B6'])).toBe('UA,B6');
  });

  it('are empty for an empty list, and listed once', () => {
    expect([keysParam([]), keysOf(null), keysOf('')]).toEqual([null, [], []]);
    expect(keysOf('a,b,a')).toEqual(['a', 'b']);
  });

  it('tolerate a hand-written address with a trailing escape', () => {
    expect(keysOf('a,b\\')).toEqual(['a', 'b']);
  });
});
