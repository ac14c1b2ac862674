import { describe, expect, it } from 'vitest';
import { firstOf, type TimelineBody } from './timelines.svelte';

const list = (...names: string[]): TimelineBody[] => names.map((timeline_id) => ({ timeline_id }) as TimelineBody);

describe('initial timeline', () => {
  it('is the last one, the only one or the demo, and otherwise null', () => {
    expect(firstOf(list('a', 'demo', 'main'), 'a', false)).toBe('a');
    expect(firstOf(list('a', 'demo', 'main'), 'gone', false)).toBe('demo');
    expect(firstOf(list('a', 'demo', 'main'), 'far', true)).toBe('far');
    expect(firstOf(list('only', 'system'), null, false)).toBe('only');
    expect(firstOf(list('a', 'main', 'system'), null, false)).toBeNull();
    expect(firstOf([], null, false)).toBeNull();
  });
});
