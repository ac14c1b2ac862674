import { describe, expect, it } from 'vitest';
import type { Anchor } from '../../../lib/timelines/anchors';
import type { TimelineBody } from '../../../lib/timelines/timelines.svelte';
import { anchorOf, readLanes } from './lanes';

const anchor = (anchor_id: string, timeline_id: string, position: number): Anchor => ({
  anchor_id,
  timestamp: '1914-06-27T00:00:00Z',
  description: '',
  fixed: true,
  position,
  timeline_id,
  set_at: '2026-11-22T07:05:41Z',
});

describe('fork points on the axis', () => {
  const anchors = [anchor('eve', 'demo', 494), anchor('other', 'main', 494), anchor('later', 'demo', 500)];

  it('are at the anchor with the last shared entry', () => {
    expect(anchorOf({ fork: { parent: 'demo', size: 495 } }, anchors)?.anchor_id).toBe('eve');
    expect(anchorOf({ fork: { parent: 'main', size: 495 } }, anchors)?.anchor_id).toBe('other');
  });

  it('are not at an anchor if the fork was created from another entry', () => {
    expect(anchorOf({ fork: { parent: 'demo', size: 496 } }, anchors)).toBeUndefined();
    expect(anchorOf({}, anchors)).toBeUndefined();
  });
});

describe('related timelines', () => {
  const timeline = (timeline_id: string, fork?: TimelineBody['fork']): TimelineBody => ({
    timeline_id,
    created_at: '2026-11-22T07:05:41Z',
    events: 0,
    role: 'admin',
    head: { size: 1, root: '' },
    fork: fork ?? null,
  });
  const trunk = timeline('trunk');
  const limb = timeline('limb', { parent: 'trunk', size: 0 });

  it('include known forks', async () => {
    const limbs = [1, 2, 3, 4, 5, 6].map((number) => timeline(`limb-${number}`, { parent: 'trunk', size: 0 }));
    const { lanes, more } = await readLanes('trunk', trunk, [trunk, timeline('other'), ...limbs], []);
    expect(lanes.map(({ timeline, isParent }) => [timeline, isParent])).toEqual(
      [1, 2, 3, 4].map((number) => [`limb-${number}`, false]),
    );
    expect(more).toBe(2);
  });

  it('include the parent even if it is not listed', async () => {
    const { lanes } = await readLanes('limb', limb, [trunk], []);
    expect(lanes).toEqual([{ timeline: 'trunk', isParent: true, at: null }]);
  });
});
