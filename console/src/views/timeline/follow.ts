/** Keeps the clock's now in sight while it moves on, so that what happens comes in at the right. */
import { panned, xOf, type Scale } from '../../lib/chart/scale';
import type { Micros } from '../../lib/time/instant';
import type { Range } from './sight.svelte';

/** Where now is kept: there is room for what is planned behind it. */
const PLACE = 0.86;
/** Whoever takes now further away by hand wants to look at something else. */
const AWAY = 0.3;

/** Returns what is shown so that now is in its place; null where it is there already. */
export function following(view: Scale, now: Micros): Scale | null {
  const off = xOf(view, now) - view.width * PLACE;
  return Math.abs(off) < 1 ? null : panned(view, off);
}

/** Whether somebody went elsewhere since now was put in its place. */
export function hasLeft(view: Scale, now: Micros): boolean {
  const x = xOf(view, now);
  const place = view.width * PLACE;
  return x < place - view.width * AWAY || x > place + view.width * AWAY;
}

/** What was read of a stretch of time is read again once that has moved by such a part of it. */
const APART = 50n;

/** Whether a stretch of time that moves by itself is too far from where it was read. */
export function isApart(read: Range, now: Range): boolean {
  const [from, to] = [now.from - read.from, now.to - read.to].map((off) => (off < 0n ? -off : off));
  return from! * APART > now.to - now.from || to! * APART > now.to - now.from;
}
