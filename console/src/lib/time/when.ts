/** When something happened, in the words of people: no more exactly than is known. */
import {
  DAY,
  dateForPeople,
  distance,
  floorDiv,
  monthName,
  parse,
  toCivil,
  yearForPeople,
  type Micros,
} from './instant';
import { dateText, momentText, displayCivil } from './people';

/** The time of an event, as the service tells it. */
interface EventTime {
  time: string;
  end_time?: string | null;
  precision?: string | null;
}

/** What is known as a date is that date in every zone. */
const DATES = new Set(['year', 'month', 'day']);

/** Whether no more than a date is known. */
export const isDate = (precision?: string | null): precision is string => DATES.has(precision ?? '');

/** Returns a moment as exactly as its precision says. */
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
  // What people write after the comma of a date.
  const { hour, minute } = displayCivil(time);
  const text = preciseText(time, '').split(', ')[1];
  return text ?? [hour, minute].map((part) => String(part).padStart(2, '0')).join(':');
}

/** Returns the moment of an event as exactly as is known. Midnight is a time like any other where times are known. */
export function eventText(time: Micros, precision: string): string {
  const { hour, minute, second, micros } = displayCivil(time);
  const isMidnight = !isDate(precision) && hour + minute + second + micros === 0;
  return isMidnight ? `${momentText(time)}, 00:00` : preciseText(time, precision);
}

/** Returns a moment as exactly as is known; `precision` is empty where it is known to the microsecond. */
export function preciseText(time: Micros, precision: string): string {
  const at = toCivil(time);
  if (precision === 'year') return yearForPeople(at.year);
  if (precision === 'month') return `${monthName(at.month)} ${yearForPeople(at.year)}`;
  if (precision === 'day') return dateForPeople(time);
  const text = momentText(time);
  return at.micros === 0 ? text : `${text}.${String(at.micros).padStart(6, '0').replace(/0+$/, '')}`;
}

/** Returns how long an event lasts, or nothing for a moment. */
export function lengthText(event: EventTime): string {
  const time = parse(event.time);
  const end = event.end_time ? parse(event.end_time) : null;
  return time === null || end === null || end <= time ? '' : distance(end - time);
}

/** Returns a stretch of time: where it is a whole year, month or day, as that. */
export function stretchText(from: Micros, to: Micros): string {
  if (from === to) return momentText(from);
  if (floorDiv(from, DAY) * DAY !== from || !isEndOfDay(to)) return `${momentText(from)} – ${momentText(to)}`;
  const [first, last] = [toCivil(from), toCivil(to)];
  const isWholeMonths = first.day === 1 && toCivil(to + 1n).day === 1;
  if (first.year === last.year && isWholeMonths) {
    if (first.month === 1 && last.month === 12) return yearForPeople(first.year);
    if (first.month === last.month) return `${monthName(first.month)} ${yearForPeople(first.year)}`;
  }
  const [begin, end] = [dateForPeople(from), dateForPeople(to)];
  return begin === end ? begin : `${begin} – ${end}`;
}

const isEndOfDay = (time: Micros): boolean => floorDiv(time, DAY) * DAY + DAY - 1n === time;

const TIMESTAMP = /[+-]?\d{4,6}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;
const DAYS_MAX = 730;

/** Returns part of a sentence of the service with its timestamps, and its great numbers of days, as people say them. */
export function sentenceText(text: string): string {
  return text
    .replaceAll(TIMESTAMP, (whole) => {
      const time = parse(whole);
      if (time === null) return whole;
      return isEndOfDay(time) || floorDiv(time, DAY) * DAY === time ? dateForPeople(time) : momentText(time);
    })
    .replaceAll(/\b(\d+) d\b(?: \d+ (?:h|min|s)\b)?/g, (whole, days: string) => {
      if (Number(days) >= DAYS_MAX) return distance(BigInt(days) * DAY);
      return /[hs]/.test(whole) || whole.includes('min') ? whole : `${days} day${days === '1' ? '' : 's'}`;
    });
}
