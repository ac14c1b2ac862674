/** Keeps the current clock time in view, so that new events appear near the right edge. */
import { panned, xOf, type Scale } from '../../lib/chart/scale';
import type { Micros } from '../../lib/time/instant';
import type { Range } from './viewport.svelte';

/** Position of the current time in the view; the rest shows planned events. */
const PLACE = 0.86;
/** Distance at which a manual pan ends following. */
const RELEASE_DISTANCE = 0.3;

/** Returns the view with the current time at its place; null if it is there already. */
export function following(view: Scale, now: Micros): Scale | null {
  const off = xOf(view, now) - view.width * PLACE;
  return Math.abs(off) < 1 ? null : panned(view, off);
}

/** Whether the user has panned away since the current time was put at its place. */
export function hasPannedAway(view: Scale, now: Micros): boolean {
  const x = xOf(view, now);
  const place = view.width * PLACE;
  return x < place - view.width * RELEASE_DISTANCE || x > place + view.width * RELEASE_DISTANCE;
}

/** Data of a moving range is reloaded when the range has moved by more than 1/RELOAD_PARTS of its length. */
const RELOAD_PARTS = 50n;

/** Whether a moving range is too far from the range of its loaded data. */
export function isOutdated(read: Range, now: Range): boolean {
  const [from, to] = [now.from - read.from, now.to - read.to].map((off) => (off < 0n ? -off : off));
  return from! * RELOAD_PARTS > now.to - now.from || to! * RELOAD_PARTS > now.to - now.from;
}
