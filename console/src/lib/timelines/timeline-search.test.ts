import { describe, expect, it } from 'vitest';
import { before } from './timeline-search.svelte';

describe('names that begin with something', () => {
  it('come right after a name that is before all of them', () => {
    for (const start of ['tl-4999', 'a', 'x.', 'm-', 'A', 'main']) {
      expect(before(start) < start).toBe(true);
      expect(before(start).length).toBeLessThanOrEqual(128);
    }
    expect(before('b') > `a${'z'.repeat(120)}`).toBe(true);
    // Nothing is smaller than the first character: what begins like the rest comes along.
    expect(before('m-')).toBe('m');
  });
});
