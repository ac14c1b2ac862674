/** Numbers among what others wrote, and how they are written for people. */

/** A number as people and programs write it, and nothing that only begins with one. */
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

/** Returns the number that a value is, or null. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string' || !NUMBER.test(value.trim())) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

/** Returns a value as people read it. */
export function numberText(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) return value.toExponential(2).replace('e+', 'e');
  return value.toLocaleString('en', { maximumFractionDigits: size >= 1_000 ? 1 : 4 }).replace('-', '−');
}

/** Signs that stand right behind a number. */
const CLOSE = /^[%‰°′″]/;

/** Returns a number, or what is said of some, with its unit. */
export function withUnit(text: string, unit: string): string {
  return unit === '' ? text : CLOSE.test(unit) ? text + unit : `${text}\u00a0${unit}`;
}

/** Returns the name of an attribute with the unit of its numbers, for titles. */
export const nameWithUnit = (name: string, unit: string): string => (unit === '' ? name : `${name} (${unit})`);
