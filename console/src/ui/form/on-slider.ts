/** Where marks of a slider stand. */

/** How wide the thumb of a slider is, in pixels: its middle comes no nearer to an end than half of that. */
const THUMB = 18;

/** Returns how far from the left of a slider its thumb is in the middle, at a part of the way, as CSS has it. */
export function onSlider(part: number): string {
  const within = Math.min(1, Math.max(0, part || 0));
  return `calc(${THUMB / 2}px + ${within} * (100% - ${THUMB}px))`;
}
