/** Event times for display, limited to their known precision. */
import { DAY, formatDate, distance, floorDiv, monthName, parse, toCivil, formatYear, type Micros } from './instant';
import { dateText, momentText, displayCivil } from './display';

/** The time fields of an event. */
interface EventTime {
  time: string;
  end_time?: string | null;
  precision?: string | null;
}

/** Precisions at which a time is a date, which is the same in every zone. */
const DATES = new Set(['year', 'month', 'day']);

/** Whether only a date is known. */
export const isDate = (precision?: string | null): precision is string => DATES.has(precision ?? '');

/** Returns the time or range of an event with its precision. */
export function whenText(event: EventTime): string {
  const time = parse(event.time);
  if (time === null) return event.time;
  const end = event.end_time ? parse(event.end_time) : null;
  const start = eventText(time, event.precision ?? '');
  if (end === null || end === time) return start;
  const isSameDay = dateText(time) === dateText(end);
  const isToTheHour = !isDate(event.precision);
  return `${start} – ${isSameDay && isToTheHour ? clockWords(end) : eventText(end, event.precision ?? '')}`;
}

function clockWords(time: Micros): string {
  // The time of day, which follows the comma.
  const { hour, minute } = displayCivil(time);
  const text = preciseText(time, '').split(', ')[1];
  return text ?? [hour, minute].map((part) => String(part).padStart(2, '0')).join(':');
}

/** Returns an event time with its precision. Includes midnight if times of day are known. */
export function eventText(time: Micros, precision: string): string {
  const { hour, minute, second, micros } = displayCivil(time);
  const isMidnight = !isDate(precision) && hour + minute + second + micros === 0;
  return isMidnight ? `${momentText(time)}, 00:00` : preciseText(time, precision);
}

/** Returns an instant with a precision; an empty precision means microseconds. */
export function preciseText(time: Micros, precision: string): string {
  const at = toCivil(time);
  if (precision === 'year') return formatYear(at.year);
  if (precision === 'month') return `${monthName(at.month)} ${formatYear(at.year)}`;
  if (precision === 'day') return formatDate(time);
  const text = momentText(time);
  return at.micros === 0 ? text : `${text}.${String(at.micros).padStart(6, '0').replace(/0+$/, '')}`;
}

/** Returns the duration of an event, or an empty string for an instant. */
export function lengthText(event: EventTime): string {
  const time = parse(event.time);
  const end = event.end_time ? parse(event.end_time) : null;
  return time === null || end === null || end <= time ? '' : distance(end - time);
}

/** Returns a range, shortened if it is a whole year, month or day. */
export function stretchText(from: Micros, to: Micros): string {
  if (from === to) return momentText(from);
  if (floorDiv(from, DAY) * DAY !== from || !isEndOfDay(to)) return `${momentText(from)} – ${momentText(to)}`;
  const [first, last] = [toCivil(from), toCivil(to)];
  const isWholeMonths = first.day === 1 && toCivil(to + 1n).day === 1;
  if (first.year === last.year && isWholeMonths) {
    if (first.month === 1 && last.month === 12) return formatYear(first.year);
    if (first.month === last.month) return `${monthName(first.month)} ${formatYear(first.year)}`;
  }
  const [begin, end] = [formatDate(from), formatDate(to)];
  return begin === end ? begin : `${begin} – ${end}`;
}

const isEndOfDay = (time: Micros): boolean => floorDiv(time, DAY) * DAY + DAY - 1n === time;

const TIMESTAMP = /[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const DAYS_MAX = 730;

/** Replaces timestamps and large day counts in a service message with readable text. */
export function sentenceText(text: string): string {
  return text
    .replaceAll(TIMESTAMP, (whole) => {
      const time = parse(whole);
      if (time === null) return whole;
      return isEndOfDay(time) || floorDiv(time, DAY) * DAY === time ? formatDate(time) : momentText(time);
    })
    .replaceAll(/\b(\d+) d\b(?: \d+ (?:h|min|s)\b)?/g, (whole, days: string) => {
      if (Number(days) >= DAYS_MAX) return distance(BigInt(days) * DAY);
      return /[hs]/.test(whole) || whole.includes('min') ? whole : `${days} day${days === '1' ? '' : 's'}`;
    });
}
