/** Parsing and formatting of numbers in event attributes. */

/** Matches a complete decimal number, not a prefix. */
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

/** Returns the numeric value of a number or a numeric string, or null. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null;
  if (typeof value !== 'string' || !NUMBER.test(value.trim())) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

/** Formats a number for display. */
export function numberText(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e9 || size < 1e-4)) return value.toExponential(2).replace('e+', 'e');
  return value.toLocaleString('en', { maximumFractionDigits: size >= 1_000 ? 1 : 4 }).replace('-', '−');
}

/** Unit symbols that follow a number without a space. */
const CLOSE = /^[%‰°′″]/;

/** Appends a unit to a formatted number or statistic. */
export function withUnit(text: string, unit: string): string {
  return unit === '' ? text : CLOSE.test(unit) ? text + unit : `${text}\u00a0${unit}`;
}

/** Returns an attribute name with its unit, for titles. */
export const nameWithUnit = (name: string, unit: string): string => (unit === '' ? name : `${name} (${unit})`);
