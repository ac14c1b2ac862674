/** The timelines around the one that is looked at: what it was forked from, and what was forked from it. */
import type { Anchor } from '../../../lib/timelines/anchors';
import { service } from '../../../lib/service/api';
import { parse, type Micros } from '../../../lib/time/instant';
import type { TimelineBody } from '../../../lib/timelines/timelines.svelte';

export interface Lane {
  timeline: string;
  isParent: boolean;
  /** The moment at which the ways parted: that of an anchor, or what the clock showed; null where it is not known. */
  at: Micros | null;
}

const FORKS_MAX = 4;

/** Returns the lanes and how many forks have none for lack of room. `own` need not be among those that were read. */
export async function readLanes(
  timeline: string,
  own: TimelineBody | undefined,
  all: readonly TimelineBody[],
  anchors: readonly Anchor[],
  signal?: AbortSignal,
): Promise<{ lanes: Lane[]; more: number }> {
  const forks = all.filter((candidate) => candidate.fork?.parent === timeline);
  const visible = forks.slice(0, FORKS_MAX);
  const lanes = visible.map(async (fork): Promise<Lane> => ({
    timeline: fork.timeline_id,
    isParent: false,
    at: await moment(fork, anchors, signal),
  }));
  if (own?.fork) {
    const parent = own.fork.parent;
    lanes.unshift(moment(own, anchors, signal).then((at) => ({ timeline: parent, isParent: true, at })));
  }
  return { lanes: await Promise.all(lanes), more: forks.length - visible.length };
}

/**
 * A fork names an entry of another ledger. If that entry set an anchor, the fork goes on from there, wherever the clock
 * was; else from what the clock showed then, which stands in the entry.
 */
async function moment(fork: TimelineBody, anchors: readonly Anchor[], signal?: AbortSignal): Promise<Micros | null> {
  const anchor = anchorOf(fork, anchors);
  if (anchor !== undefined) return parse(anchor.timestamp);
  if (fork.clock?.generation === 0) return parse(fork.clock.origin_virtual);
  const { parent: of, size } = fork.fork!;
  if (size === 0) return null;
  try {
    const proof = await service.proof({ timeline_id: of, position: size - 1 }, { signal });
    const leaf = JSON.parse(proof.leaf ?? '{}') as { clock_time?: string };
    return parse(leaf.clock_time ?? '');
  } catch {
    // Who may read the fork need not be allowed to read what it was forked from.
    return null;
  }
}

/** Returns the anchor that a fork was made from, if it was one. */
export function anchorOf({ fork }: Pick<TimelineBody, 'fork'>, anchors: readonly Anchor[]): Anchor | undefined {
  return anchors.find(({ timeline_id, position }) => timeline_id === fork?.parent && position === fork.size - 1);
}
