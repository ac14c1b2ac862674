import { describe, expect, it } from 'vitest';
import { before, firstOf, type TimelineBody } from './timelines.svelte';

const list = (...names: string[]): TimelineBody[] => names.map((timeline_id) => ({ timeline_id }) as TimelineBody);

describe('which timeline to begin with', () => {
  it('is the last one, the only one, the demo, and else nobody knows', () => {
    expect(firstOf(list('a', 'demo', 'main'), 'a', false)).toBe('a');
    expect(firstOf(list('a', 'demo', 'main'), 'gone', false)).toBe('demo');
    expect(firstOf(list('a', 'demo', 'main'), 'far', true)).toBe('far');
    expect(firstOf(list('only', 'system'), null, false)).toBe('only');
    expect(firstOf(list('a', 'main', 'system'), null, false)).toBeNull();
    expect(firstOf([], null, false)).toBeNull();
  });
});

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
