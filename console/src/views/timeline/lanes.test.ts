import { describe, expect, it } from 'vitest';
import type { Anchor } from '../../lib/anchors';
import { anchorOf } from './lanes';

const anchor = (anchor_id: string, timeline_id: string, position: number): Anchor => ({
  anchor_id,
  timestamp: '1914-06-27T00:00:00Z',
  description: '',
  fixed: true,
  position,
  timeline_id,
  set_at: '2026-11-22T07:05:41Z',
});

describe('where a fork leaves the axis', () => {
  const anchors = [anchor('eve', 'demo', 494), anchor('other', 'main', 494), anchor('later', 'demo', 500)];

  it('is the anchor whose entry is the last that both share', () => {
    expect(anchorOf({ fork: { of: 'demo', size: 495 } }, anchors)?.anchor_id).toBe('eve');
    expect(anchorOf({ fork: { of: 'main', size: 495 } }, anchors)?.anchor_id).toBe('other');
  });

  it('is no anchor where it was forked from another entry', () => {
    expect(anchorOf({ fork: { of: 'demo', size: 496 } }, anchors)).toBeUndefined();
    expect(anchorOf({}, anchors)).toBeUndefined();
  });
});
