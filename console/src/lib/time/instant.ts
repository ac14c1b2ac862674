/**
 * Instants as bigint microseconds since 1970, for years −9999 to 9999 in the proleptic Gregorian calendar.
 *
 * `Date` has millisecond precision and maps years 0 to 99 to the twentieth century, so it is not used here. Source of
 * the algorithms: H. Hinnant, "chrono-compatible low-level date algorithms".
 */
export type Micros = bigint;

export const SECOND = 1_000_000n;
export const MINUTE = 60n * SECOND;
export const HOUR = 60n * MINUTE;
export const DAY = 24n * HOUR;

interface Civil {
  /** Astronomical year: 0 is 1 BCE. */
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  micros: number;
}

const SHAPE =
  /^([+-]\d{6}|-?\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s*([Zz]|[+-]\d{2}:?\d{2})?$/;

/** Parses a timestamp; UTC without an offset. Returns null if it is invalid. */
export function parse(text: string): Micros | null {
  const parts = SHAPE.exec(text.trim());
  if (parts === null) return null;
  const number = (index: number): number => Number(parts[index] ?? 0);
  const fraction = (parts[7] ?? '').slice(0, 6).padEnd(6, '0');
  const civil: Civil = {
    year: number(1),
    month: number(2),
    day: number(3),
    hour: number(4),
    minute: number(5),
    second: number(6),
    micros: Number(fraction),
  };
  if (!isCivil(civil)) return null;
  return fromCivil(civil) - BigInt(offsetMinutes(parts[8] ?? 'Z')) * MINUTE;
}

function offsetMinutes(text: string): number {
  if (text.toUpperCase() === 'Z') return 0;
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(-2));
  return text.startsWith('-') ? -minutes : minutes;
}

function isCivil(civil: Civil): boolean {
  if (civil.year < -9999 || civil.year > 9999) return false;
  if (civil.month < 1 || civil.month > 12) return false;
  if (civil.day < 1 || civil.day > daysInMonth(civil.year, civil.month)) return false;
  return civil.hour < 24 && civil.minute < 60 && civil.second < 60;
}

export function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

export function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** Returns days since 1970-01-01. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** Returns the date of a number of days since 1970-01-01. */
export function civilFromDays(days: number): { year: number; month: number; day: number } {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const leapDays = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return { year, month, day: dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1 };
}

export function fromCivil(civil: Civil): Micros {
  const days = BigInt(daysFromCivil(civil.year, civil.month, civil.day));
  const seconds = BigInt(civil.hour * 3_600 + civil.minute * 60 + civil.second);
  return days * DAY + seconds * SECOND + BigInt(civil.micros);
}

export function toCivil(instant: Micros): Civil {
  const days = floorDiv(instant, DAY);
  const rest = instant - days * DAY;
  const seconds = Number(rest / SECOND);
  return {
    ...civilFromDays(Number(days)),
    hour: Math.floor(seconds / 3_600),
    minute: Math.floor(seconds / 60) % 60,
    second: seconds % 60,
    micros: Number(rest % SECOND),
  };
}

export function floorDiv(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}

/** Returns the start of the second of an instant. */
export const wholeSecond = (instant: Micros): Micros => floorDiv(instant, SECOND) * SECOND;

const two = (value: number): string => String(value).padStart(2, '0');

/** Returns a year in API format: four digits, or a sign and six digits before year 0. */
function yearText(year: number): string {
  return year < 0 ? `-${String(-year).padStart(6, '0')}` : String(year).padStart(4, '0');
}

/** Returns an API timestamp: UTC, with fraction digits only if they are not zero. */
export function format(instant: Micros): string {
  const { year, month, day, hour, minute, second, micros } = toCivil(instant);
  const fraction = micros === 0 ? '' : `.${String(micros).padStart(6, '0').replace(/0+$/, '')}`;
  return `${yearText(year)}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}${fraction}Z`;
}

export const MONTHS: readonly string[] =
  /* @__PURE__ */ 'January February March April May June July August September October November December'.split(' ');

/** Returns the name of a month, from 1 to 12. */
export function monthName(month: number): string {
  return MONTHS[month - 1] ?? '';
}

/** Returns a year for display. 1 BCE is the astronomical year 0. */
export function formatYear(year: number): string {
  return year > 0 ? String(year) : `${1 - year} BCE`;
}

/** Returns a date for display, such as "29 February 2028" or "15 March 44 BCE". */
export function formatDate(instant: Micros): string {
  const { year, month, day } = toCivil(instant);
  return `${day} ${monthName(month)} ${formatYear(year)}`;
}

/** Returns the time of day, such as "08:30:00". */
export function timeOfDay(instant: Micros): string {
  const { hour, minute, second } = toCivil(instant);
  return `${two(hour)}:${two(minute)}:${two(second)}`;
}

/** Returns date and time for display, without zero seconds, such as "29 February 2028, 08:30". */
export function formatMoment(instant: Micros): string {
  const { hour, minute, second, micros } = toCivil(instant);
  if (hour + minute + second + micros === 0) return formatDate(instant);
  const seconds = second + micros === 0 ? '' : `:${two(second)}`;
  return `${formatDate(instant)}, ${two(hour)}:${two(minute)}${seconds}`;
}

const UNITS: readonly [name: string, micros: bigint][] = [
  ['year', 31_556_952n * SECOND],
  ['month', 2_629_746n * SECOND],
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
  ['second', SECOND],
  ['millisecond', 1_000n],
  ['microsecond', 1n],
];

/** Returns a rounded duration in its largest unit, such as "3.5 hours" or "412 years". */
export function distance(micros: bigint): string {
  const size = micros < 0n ? -micros : micros;
  for (const [index, [name, unit]] of UNITS.entries()) {
    if (size < unit && unit !== 1n) continue;
    const amount = rounded(size, unit);
    const larger = UNITS[index - 1];
    // Round up to the larger unit: 365 days are "1 year", not "12 months".
    if (larger !== undefined && BigInt(Math.round(amount * 10)) * unit * 1_000n >= larger[1] * 9_990n)
      return `1 ${larger[0]}`;
    return `${amount.toLocaleString('en')} ${name}${amount === 1 ? '' : 's'}`;
  }
  return '0 seconds';
}

/** Divides with one decimal below ten, otherwise to a whole number. */
function rounded(size: bigint, unit: bigint): number {
  const tenths = Number((size * 20n + unit) / (unit * 2n)) / 10;
  return tenths >= 10 ? Number((size * 2n + unit) / (unit * 2n)) : tenths;
}
