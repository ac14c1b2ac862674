/** Turns something while it is there, by an eighth of a turn at a time. */

/**
 * Eight pictures a second, and none between them: an animation asks for sixty, also where it has eight steps, and
 * without a graphics card that is a fifth of a processor.
 */
const STEP_MS = 125;
const STEPS = 8;

export function turning(element: HTMLElement): (() => void) | undefined {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return undefined;
  let step = 0;
  const timer = setInterval(() => {
    step = (step + 1) % STEPS;
    element.style.setProperty('rotate', `${step / STEPS}turn`);
  }, STEP_MS);
  return () => clearInterval(timer);
}
