/** Timelines with a common origin. Only these can be compared. */
import { isLayer, type TimelineBody } from './timelines.svelte';

/** Returns the ancestors of a timeline, nearest first. */
export function ancestors(timeline: string, all: readonly TimelineBody[]): string[] {
  const known = new Map(all.map((entry) => [entry.timeline_id, entry]));
  const found: string[] = [];
  for (
    let ancestor = known.get(timeline)?.fork?.parent;
    ancestor !== undefined && !found.includes(ancestor);
    ancestor = known.get(ancestor)?.fork?.parent
  )
    found.push(ancestor);
  return found;
}

/** Returns the timelines that a timeline can be compared with: its parent, then its forks, then the others. */
export function relatives(timeline: string, all: readonly TimelineBody[]): string[] {
  const rootOf = (name: string): string => ancestors(name, all).at(-1) ?? name;
  const own = ancestors(timeline, all);
  const root = own.at(-1) ?? timeline;
  const names = all.map((entry) => entry.timeline_id).filter((name) => rootOf(name) === root);
  const forks = all.filter((entry) => entry.fork?.parent === timeline).map((entry) => entry.timeline_id);
  return [...new Set([...own, ...forks, ...names])].filter(
    (name) => name !== timeline && !isLayer(name) && all.some((entry) => entry.timeline_id === name),
  );
}
