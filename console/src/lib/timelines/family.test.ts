import { describe, expect, it } from 'vitest';
import type { TimelineBody } from './timelines.svelte';
import { ancestors, relatives } from './family';

const timeline = (timeline_id: string, of?: string): TimelineBody => ({
  timeline_id,
  created_at: '2026-01-01T00:00:00Z',
  events: 0,
  anchors: 0,
  role: 'read',
  head: { size: 1, root: '' },
  fork: of === undefined ? null : { parent: of, size: 1 },
});
const all = [
  timeline('main'),
  timeline('plan-a', 'main'),
  timeline('plan-b', 'main'),
  timeline('plan-a-2', 'plan-a'),
  timeline('other'),
];

describe('related timelines', () => {
  it('start with the parent, then forks, then the others', () => {
    expect(ancestors('plan-a-2', all)).toEqual(['plan-a', 'main']);
    expect(relatives('plan-a', all)).toEqual(['main', 'plan-a-2', 'plan-b']);
    expect(relatives('main', all)).toEqual(['plan-a', 'plan-b', 'plan-a-2']);
    expect(relatives('other', all)).toEqual([]);
  });

  it('omit ancestors that cannot be requested', () => {
    // The parent is not readable, but its other forks are relatives.
    expect(relatives('x', [timeline('x', 'hidden'), timeline('y', 'hidden')])).toEqual(['y']);
    expect(relatives('x', [timeline('x', 'far/main')])).toEqual([]);
  });
});
