/** Bucket sizes for event counts, such as an hour or a month. */
import { DAY, HOUR, MINUTE, SECOND, civilFromDays, daysFromCivil, floorDiv, type Micros } from '../time/instant';

export interface Step {
  /** ISO 8601 duration for the service, such as `PT6H`. */
  iso: string;
  /** Display text: "6 hours", "month". */
  text: string;
  /** Length in microseconds; approximate for months and years. */
  micros: number;
  /** Exact length in microseconds, or whole months. */
  readonly size: { micros: bigint } | { months: number };
}

const counted = (count: number, noun: string): string =>
  count === 1 ? noun : `${count.toLocaleString('en')} ${noun}s`;

function exact(unit: bigint, noun: string, counts: readonly number[], iso: (count: number) => string): Step[] {
  return counts.map((count) => ({
    iso: iso(count),
    text: counted(count, noun),
    micros: Number(unit) * count,
    size: { micros: unit * BigInt(count) },
  }));
}

const MONTH_MICROS = 2_629_746e6;
const months = (count: number, noun: string, each: number): Step => ({
  iso: each === 12 ? `P${count}Y` : `P${count}M`,
  text: counted(count, noun),
  micros: MONTH_MICROS * count * each,
  size: { months: count * each },
});
/** Formats fractional seconds without trailing zeros. */
const fraction = (digits: number) => (count: number) =>
  `PT0.${String(count).padStart(digits, '0').replace(/0+$/, '')}S`;
const DECADES = [1, 2, 5, 10, 20, 50, 100, 200, 500];

/** From fine to coarse. */
export const STEPS: readonly Step[] = [
  ...exact(1n, 'microsecond', DECADES, fraction(6)),
  ...exact(1_000n, 'millisecond', DECADES, fraction(3)),
  ...exact(SECOND, 'second', [1, 2, 5, 10, 15, 30], (count) => `PT${count}S`),
  ...exact(MINUTE, 'minute', [1, 2, 5, 10, 15, 30], (count) => `PT${count}M`),
  ...exact(HOUR, 'hour', [1, 2, 3, 6, 12], (count) => `PT${count}H`),
  ...exact(DAY, 'day', [1, 2, 4, 7, 14], (count) => `P${count}D`),
  // No half-years: with yearly events, every second bar would be empty.
  ...[1, 3].map((count) => months(count, 'month', 1)),
  ...[...DECADES, 1_000].map((count) => months(count, 'year', 12)),
];

/** Returns the shortest step of at least `micros`. */
export function stepOf(micros: number): Step {
  return STEPS.find((step) => step.micros >= micros * 0.999) ?? STEPS[STEPS.length - 1]!;
}

function monthBegin(number: number): Micros {
  const year = Math.floor(number / 12);
  return BigInt(daysFromCivil(year, number - year * 12 + 1, 1)) * DAY;
}

function monthOf(instant: Micros): number {
  const { year, month } = civilFromDays(Number(floorDiv(instant, DAY)));
  return year * 12 + month - 1;
}

/** Returns the start of the bucket that contains an instant. */
export function stepBegin({ size }: Step, instant: Micros): Micros {
  if ('micros' in size) return floorDiv(instant, size.micros) * size.micros;
  return monthBegin(Math.floor(monthOf(instant) / size.months) * size.months);
}

/** Returns the end of the bucket that starts at `begin`. */
export function stepEnd({ size }: Step, begin: Micros): Micros {
  return 'micros' in size ? begin + size.micros : monthBegin(monthOf(begin) + size.months);
}
