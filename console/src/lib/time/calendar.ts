/** Calendar pages in the proleptic Gregorian calendar. Weeks begin on Monday. */
import {
  DAY,
  civilFromDays,
  formatDate,
  daysFromCivil,
  daysInMonth,
  floorDiv,
  isLeap,
  toCivil,
  type Micros,
} from './instant';
import { readDuration, shift } from './duration';
import { zone, type DisplayZone } from './zone.svelte';
import { readMoment } from './zoned';

export const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const;

export const YEAR_FIRST = -9999;
export const YEAR_LAST = 9999;

/** Returns the day of an instant, as days since 1970-01-01. */
export function dayOf(instant: Micros): number {
  return Number(floorDiv(instant, DAY));
}

/** Returns the weekday of a day since 1970-01-01, a Thursday. 0 is Monday. */
export function weekdayIndex(day: number): number {
  return (((day + 3) % 7) + 7) % 7;
}

export function weekday(instant: Micros): string {
  return WEEKDAYS[weekdayIndex(dayOf(instant))] ?? '';
}

/** Returns weekday and date, such as "Tuesday, 29 February 2028". */
export function fullDate(instant: Micros): string {
  return `${weekday(instant)}, ${formatDate(instant)}`;
}

/** Returns the day of the year, from 1, and the number of days in that year. */
export function dayOfYear(instant: Micros): { day: number; days: number } {
  const { year } = toCivil(instant);
  return { day: dayOf(instant) - daysFromCivil(year, 1, 1) + 1, days: isLeap(year) ? 366 : 365 };
}

/** Returns the ISO 8601 week number. */
export function isoWeek(instant: Micros): number {
  const day = dayOf(instant);
  // A week belongs to the year that contains its Thursday.
  const thursday = day - weekdayIndex(day) + 3;
  const { year } = civilFromDays(thursday);
  return Math.floor((thursday - daysFromCivil(year, 1, 1)) / 7) + 1;
}

/** Returns the six weeks that contain a month, as days since 1970-01-01. */
export function monthPage(year: number, month: number): number[][] {
  const first = daysFromCivil(year, month, 1);
  const start = first - weekdayIndex(first);
  return Array.from({ length: 6 }, (_, week) => Array.from({ length: 7 }, (__, day) => start + week * 7 + day));
}

/** Adds months to a day. Clamps to the last day of shorter months and to the supported years. */
export function addMonths(day: number, months: number): number {
  const civil = civilFromDays(day);
  const count = civil.year * 12 + civil.month - 1 + months;
  const year = Math.floor(count / 12);
  if (year < YEAR_FIRST) return daysFromCivil(YEAR_FIRST, 1, 1);
  if (year > YEAR_LAST) return daysFromCivil(YEAR_LAST, 12, 31);
  const month = count - year * 12 + 1;
  return daysFromCivil(year, month, Math.min(civil.day, daysInMonth(year, month)));
}

/** A parsed moment, or null. */
type ParsedMoment = { instant: Micros; isRelative: boolean } | null;

/**
 * Parses user input for a moment: a timestamp or date, in the field's zone unless it specifies one, or an offset from
 * the clock such as `+2d` or `-P1M`. The field shows the result while the user types, so it accepts more than the API.
 */
export function parseMomentInput(text: string, now: Micros, by: DisplayZone = zone): ParsedMoment {
  const given = text.trim();
  const exact = readMoment(given, by);
  if (exact !== null) return { instant: exact, isRelative: false };
  const relative = /^([+-])\s*(\S.*)$/.exec(given);
  if (relative === null) return null;
  const [, sign, length = ''] = relative;
  const read = readDuration(length);
  if (!read.ok) return null;
  const instant = shift(now, read.duration, sign === '-' ? -1 : 1);
  const { year } = toCivil(instant);
  return year < YEAR_FIRST || year > YEAR_LAST ? null : { instant, isRelative: true };
}
