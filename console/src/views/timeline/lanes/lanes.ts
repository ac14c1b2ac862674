/** Timelines related to the current one: its parent and its forks. */
import type { Anchor } from '../../../lib/timelines/anchors';
import { service } from '../../../lib/service/api';
import { parse, type Micros } from '../../../lib/time/instant';
import type { TimelineBody } from '../../../lib/timelines/timelines.svelte';

export interface Lane {
  timeline: string;
  isParent: boolean;
  /** Time of the fork point, from an anchor or the clock; null if unknown. */
  at: Micros | null;
}

const FORKS_MAX = 4;

/** Returns the lanes and the number of forks without a lane. `own` may be missing from `all`. */
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
 * Returns the time of a fork point. A fork refers to an entry of the parent's ledger. If that entry set an anchor, the
 * fork continues from the anchor regardless of the clock; otherwise from the clock time that the entry recorded.
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
    // Access to a fork does not imply access to its parent.
    return null;
  }
}

/** Returns the anchor from which a fork was created, if any. */
export function anchorOf({ fork }: Pick<TimelineBody, 'fork'>, anchors: readonly Anchor[]): Anchor | undefined {
  return anchors.find(({ timeline_id, position }) => timeline_id === fork?.parent && position === fork.size - 1);
}
