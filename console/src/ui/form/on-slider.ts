/** Positions of slider marks. */

/** Width of the slider thumb in pixels. Its center stays half of that away from the ends. */
const THUMB = 18;

/** Returns the CSS offset of the thumb's center from the left edge for a value between 0 and 1. */
export function onSlider(part: number): string {
  const within = Math.min(1, Math.max(0, part || 0));
  return `calc(${THUMB / 2}px + ${within} * (100% - ${THUMB}px))`;
}
