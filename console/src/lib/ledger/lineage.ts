/** Maps positions in a timeline's full history to positions in the ledgers of its ancestors. */
import type { TimelineBody } from '../timelines/timelines.svelte';

interface Place {
  ledger: string;
  /** Position within that ledger. */
  position: number;
}

/**
 * Returns the ledger and position of an entry in a timeline's history, or the name of an ancestor that must be loaded
 * first.
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

/** Returns a timeline and its known ancestors, oldest first. */
export function lineageOf(
  timeline: string,
  find: (name: string) => Pick<TimelineBody, 'fork'> | undefined,
): readonly string[] {
  const names: string[] = [];
  for (let name: string | undefined = timeline; name !== undefined; name = find(name)?.fork?.parent)
    names.unshift(name);
  return names;
}
