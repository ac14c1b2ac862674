/** The strip of all time, and which part of it is in view. */
import { paddedScale, xOf, type Scale } from '../../../lib/chart/scale';
import type { Range } from '../sight.svelte';

/** So wide its frame is at least: it has to be taken hold of. */
const FRAME_MIN = 6;
/** Nearer to an end than this, nothing is left out there that one could see. */
const NEAR = 1;

/** Makes the scale of the strip: that of the axis where all is in view, so that one is below the other. */
export function stripOf({ from, to }: Range, width: number): Scale {
  return paddedScale(from, to, width);
}

/** Returns from where the frame of what is in view reaches, how far, and whether that is all there is. */
export function partOf(whole: Scale, view: Scale): { from: number; wide: number; isAll: boolean } {
  const { width } = whole;
  // The view may reach beyond the calendar, where there is no time to look for.
  const half = (view.width * view.pixel) / whole.pixel / 2;
  const [left, right] = [xOf(whole, view.center) - half, xOf(whole, view.center) + half];
  const from = Math.max(0, Math.min(width - FRAME_MIN, left));
  const wide = Math.max(FRAME_MIN, Math.min(width, right) - from);
  return { from, wide, isAll: left <= NEAR && right >= width - NEAR };
}
