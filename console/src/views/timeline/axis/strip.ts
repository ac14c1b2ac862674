/** Geometry of the overview strip and of the frame that marks the visible part. */
import { paddedScale, xOf, type Scale } from '../../../lib/chart/scale';
import type { Range } from '../viewport.svelte';

/** Minimum width of the frame, so that it can be dragged. */
const FRAME_MIN = 6;
/** Distance in pixels below which a side counts as fully visible. */
const NEAR = 1;

/** Returns the scale of the strip. It equals the scale of the axis that shows everything, so that both are aligned. */
export function stripOf({ from, to }: Range, width: number): Scale {
  return paddedScale(from, to, width);
}

/** Returns the position and width of the frame, and whether everything is in view. */
export function partOf(whole: Scale, view: Scale): { from: number; wide: number; isAll: boolean } {
  const { width } = whole;
  // Compute with pixels: the view may extend beyond the calendar, where there are no valid times.
  const half = (view.width * view.pixel) / whole.pixel / 2;
  const [left, right] = [xOf(whole, view.center) - half, xOf(whole, view.center) + half];
  const from = Math.max(0, Math.min(width - FRAME_MIN, left));
  const wide = Math.max(FRAME_MIN, Math.min(width, right) - from);
  return { from, wide, isAll: left <= NEAR && right >= width - NEAR };
}
