import { describe, expect, it } from 'vitest';
import { keysOf, keysParam } from './lane-keys';

describe('names of groups in an address', () => {
  it('come back as they were written, whatever is in them', () => {
    for (const keys of [['UA', 'B6'], [''], ['', ''].slice(1), ['a,b', 'c\\', '\\-', '-'], ['*', 'New York, NY', '']])
      expect(keysOf(keysParam(keys))).toEqual(keys);
    expect(keysParam(['UA', 'B6'])).toBe('UA,B6');
  });

  it('are none where there is nothing, and each once', () => {
    expect([keysParam([]), keysOf(null), keysOf('')]).toEqual([null, [], []]);
    expect(keysOf('a,b,a')).toEqual(['a', 'b']);
  });

  it('end where a hand-written address ends', () => {
    expect(keysOf('a,b\\')).toEqual(['a', 'b']);
  });
});
