import { describe, expect, it } from 'vitest';
import { wrongParams } from './deep-link';
import { knownAt } from './known-at';

describe('`as_of` value', () => {
  it('is a time, a position or an anchor in API format', () => {
    expect(knownAt('100')).toBe('100');
    expect(knownAt('anchor_01h455vb4pex5vsknk084sn02q')).toBe('anchor_01h455vb4pex5vsknk084sn02q');
    expect(knownAt('2026-11-20T10:00:00+02:00')).toBe('2026-11-20T08:00:00Z');
    for (const text of [null, '', '-1', 'yesterday', '2026-11-20', 'anchor_é', 'entry 100'])
      expect(knownAt(text)).toBeNull();
  });

  it('is omitted from a link exactly if the page reports it', () => {
    for (const text of ['100', 'anchor_01h455vb4pex5vsknk084sn02q', '2026-11-20T10:00:00Z', 'yesterday', 'anchor id'])
      expect(wrongParams('timeline', { as_of: text }).length > 0, text).toBe(knownAt(text) === null);
  });
});
