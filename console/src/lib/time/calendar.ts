/** What a calendar page shows, in the proleptic Gregorian calendar of the API. Weeks begin on Monday. */
import {
  DAY,
  civilFromDays,
  dateForPeople,
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

/** Returns the days since 1970-01-01 of a moment. */
export function dayOf(instant: Micros): number {
  return Number(floorDiv(instant, DAY));
}

/** Returns the weekday of a day since 1970-01-01, which was a Thursday: 0 is Monday. */
export function weekdayIndex(day: number): number {
  return (((day + 3) % 7) + 7) % 7;
}

/** Returns the name of the weekday of a moment. */
export function weekday(instant: Micros): string {
  return WEEKDAYS[weekdayIndex(dayOf(instant))] ?? '';
}

/** Returns weekday and date, such as "Tuesday, 29 February 2028". */
export function fullDate(instant: Micros): string {
  return `${weekday(instant)}, ${dateForPeople(instant)}`;
}

/** Returns which day of its year a moment is in, from 1, and how many days that year has. */
export function dayOfYear(instant: Micros): { day: number; days: number } {
  const { year } = toCivil(instant);
  return { day: dayOf(instant) - daysFromCivil(year, 1, 1) + 1, days: isLeap(year) ? 366 : 365 };
}

/** Returns the week of a moment as ISO 8601 counts them. */
export function isoWeek(instant: Micros): number {
  const day = dayOf(instant);
  // The week belongs to the year that its Thursday is in.
  const thursday = day - weekdayIndex(day) + 3;
  const { year } = civilFromDays(thursday);
  return Math.floor((thursday - daysFromCivil(year, 1, 1)) / 7) + 1;
}

/** Returns six weeks of days since 1970-01-01 that contain a month. */
export function monthPage(year: number, month: number): number[][] {
  const first = daysFromCivil(year, month, 1);
  const start = first - weekdayIndex(first);
  return Array.from({ length: 6 }, (_, week) => Array.from({ length: 7 }, (__, day) => start + week * 7 + day));
}

/** Returns a day some months on, on the last day of a month that is too short, kept within the years there are. */
export function addMonths(day: number, months: number): number {
  const civil = civilFromDays(day);
  const count = civil.year * 12 + civil.month - 1 + months;
  const year = Math.floor(count / 12);
  if (year < YEAR_FIRST) return daysFromCivil(YEAR_FIRST, 1, 1);
  if (year > YEAR_LAST) return daysFromCivil(YEAR_LAST, 12, 31);
  const month = count - year * 12 + 1;
  return daysFromCivil(year, month, Math.min(civil.day, daysInMonth(year, month)));
}

/** What a typed moment was understood as. */
type Understood = { instant: Micros; isRelative: boolean } | null;

/**
 * Reads what people type for a moment: a timestamp or a date alone, in the zone of the field unless it says another;
 * or `+2d` and `-P1M` counted from what the clock shows. Whether it means anything is shown while it is typed, so more
 * may be read here than the API takes.
 */
export function understand(text: string, now: Micros, by: DisplayZone = zone): Understood {
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
