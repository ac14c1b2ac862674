/**
 * Instants as whole microseconds since 1970, from −9999 to 9999, in the proleptic Gregorian calendar.
 *
 * `Date` has only millisecond precision, so an instant is not stored as one.
 *
 * Source of the calendar: H. Hinnant, "chrono-compatible low-level date algorithms".
 */

const SECOND = 1_000_000n;
const DAY = 86_400n * SECOND;
const FIRST = -377_705_116_800_000_000n;
const LAST = 253_402_300_799_999_999n;
const SHAPE =
  /^([+-]\d{6}|\d{4})-(\d{2})-(\d{2})[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?([Zz]|[+-]\d{2}:?\d{2})$/;

/** A moment: a timestamp with a time zone, a `Date`, or an `Instant`. */
export type When = string | Date | Instant;

/** An instant of virtual or host time, in whole microseconds since 1970. */
export class Instant {
  static readonly MIN = new Instant(FIRST);
  static readonly MAX = new Instant(LAST);

  constructor(readonly micros: bigint) {
    if (micros < FIRST || micros > LAST) {
      throw new RangeError(`${micros} µs is outside the range -009999-01-01T00:00:00Z to 9999-12-31T23:59:59.999999Z`);
    }
  }

  /**
   * Parses a timestamp with a time zone in the format of the API, such as `2028-02-29T09:00:00Z`. Fractions of a
   * microsecond are truncated, toward the past.
   */
  static parse(text: string): Instant {
    const shape = SHAPE.exec(text);
    if (shape === null) {
      throw new RangeError(`"${text}" is not a timestamp with a time zone, such as 2028-02-29T09:00:00Z`);
    }
    const number = (index: number): number => Number(shape[index] ?? 0);
    const [year, month, day, hour, minute, second] = [1, 2, 3, 4, 5, 6].map(number) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const isDay = shape[1] !== '-000000' && month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month);
    if (!isDay || hour > 23 || minute > 59 || second > 59) {
      throw new RangeError(`"${text}" is not a valid date and time`);
    }
    const seconds = hour * 3_600 + (minute - offsetMinutes(shape[8] ?? 'Z')) * 60 + second;
    const fraction = BigInt((shape[7] ?? '').slice(0, 6).padEnd(6, '0'));
    return new Instant(BigInt(daysFromCivil(year, month, day)) * DAY + BigInt(seconds) * SECOND + fraction);
  }

  /** Converts a timestamp, a `Date` or an instant. */
  static of(when: When): Instant {
    if (when instanceof Instant) return when;
    return typeof when === 'string' ? Instant.parse(when) : new Instant(BigInt(when.getTime()) * 1_000n);
  }

  /** Returns the instant as a `Date`, truncated to milliseconds. */
  toDate(): Date {
    return new Date(this.toMillis());
  }

  /** Returns whole milliseconds since 1970, like `Date.now()`. */
  toMillis(): number {
    return Number(floorDiv(this.micros, 1_000n));
  }

  /** Formats the instant like the API: UTC, with fraction digits only if they are not zero. */
  toString(): string {
    const days = floorDiv(this.micros, DAY);
    const rest = this.micros - days * DAY;
    const seconds = Number(rest / SECOND);
    const micros = Number(rest % SECOND);
    const [year, month, day] = civilFromDays(Number(days));
    const years = year < 0 ? `-${digits(-year, 6)}` : digits(year, 4);
    const fraction = micros === 0 ? '' : `.${digits(micros, 6).replace(/0+$/, '')}`;
    const time = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
    const clock = time.map((part) => digits(part, 2)).join(':');
    return `${years}-${digits(month, 2)}-${digits(day, 2)}T${clock}${fraction}Z`;
  }

  toJSON(): string {
    return this.toString();
  }
}

export function floorDiv(a: bigint, b: bigint): bigint {
  const quotient = a / b;
  return a % b !== 0n && a < 0n !== b < 0n ? quotient - 1n : quotient;
}

function digits(value: number, count: number): string {
  return String(value).padStart(count, '0');
}

function offsetMinutes(text: string): number {
  if (text === 'Z' || text === 'z') return 0;
  const minutes = Number(text.slice(1, 3)) * 60 + Number(text.slice(-2));
  return text.startsWith('-') ? -minutes : minutes;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function civilFromDays(days: number): [year: number, month: number, day: number] {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const dayOfEra = z - era * 146_097;
  const leapDays = Math.floor(dayOfEra / 1_460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return [year, month, dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1];
}
