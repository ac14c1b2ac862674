import { describe, expect, it } from 'vitest';
import { cursorBefore } from './timeline-search.svelte';

describe('names with a prefix', () => {
  it('directly follow the computed cursor', () => {
    for (const start of ['tl-4999', 'a', 'x.', 'm-', 'A', 'main']) {
      expect(cursorBefore(start) < start).toBe(true);
      expect(cursorBefore(start).length).toBeLessThanOrEqual(128);
    }
    expect(cursorBefore('b') > `a${'z'.repeat(120)}`).toBe(true);
    // No character precedes the first one, so names with the shorter prefix are included.
    expect(cursorBefore('m-')).toBe('m');
  });
});
