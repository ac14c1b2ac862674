/** Round step sizes, shared by all charts. */

const DIGITS = [1, 2, 5, 10];

/** Returns the smallest of 1, 2 or 5 times a power of ten that is at least `least`. */
export function niceStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return DIGITS.map((digit) => digit * power).find((step) => step >= least * 0.9999) ?? 10 * power;
}

/** Removes floating-point noise: 0.30000000000000004 becomes 0.3. */
export const trimmed = (value: number): number => Number(value.toPrecision(12));
