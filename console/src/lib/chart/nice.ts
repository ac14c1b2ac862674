/** Round numbers for the lines of a scale: all charts have theirs from here. */

const DIGITS = [1, 2, 5, 10];

/** Returns the next of 1, 2, 5 times a power of ten that is at least so much. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return DIGITS.map((digit) => digit * power).find((step) => step >= least * 0.9999) ?? 10 * power;
}

/** Takes away what binary fractions add: 0.30000000000000004 is 0.3. */
export const trimmed = (value: number): number => Number(value.toPrecision(12));
