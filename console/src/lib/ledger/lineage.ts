/** Where an entry stands whose position counts along all ledgers that a fork goes on from, the oldest first. */
import type { TimelineBody } from '../timelines/timelines.svelte';

export interface Place {
  ledger: string;
  /** Its position in that ledger. */
  position: number;
}

/**
 * Returns where the entry at a position along a timeline's history stands, or the name of the ancestor that has to be
 * known to tell.
 */
export function placeOf(
  timeline: string,
  position: number,
  find: (name: string) => Pick<TimelineBody, 'fork'> | undefined,
): Place | string {
  const sizes: [ledger: string, inherited: number][] = [];
  for (let name: string | undefined = timeline; name !== undefined;) {
    const known = find(name);
    if (known === undefined) return name;
    sizes.push([name, known.fork?.size ?? 0]);
    name = known.fork?.parent;
  }
  let first = sizes.reduce((sum, [, inherited]) => sum + inherited, 0);
  for (const [ledger, inherited] of sizes) {
    if (position >= first) return { ledger, position: position - first };
    first -= inherited;
  }
  return { ledger: timeline, position };
}

/** Returns a timeline and what it was forked from, the oldest first, as far as that is known. */
export function lineageOf(
  timeline: string,
  find: (name: string) => Pick<TimelineBody, 'fork'> | undefined,
): readonly string[] {
  const names: string[] = [];
  for (let name: string | undefined = timeline; name !== undefined; name = find(name)?.fork?.parent)
    names.unshift(name);
  return names;
}
