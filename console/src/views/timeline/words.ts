/** Times and ranges in the words of people. */
import { DAY, HOUR, MINUTE, MONTHS, SECOND, dateForPeople, distance, forPeople, format, toCivil, yearForPeople, type Micros } from '../../lib/instant';
import type { EventBody } from './store';
import { parse } from '../../lib/instant';

/** Returns a moment as exactly as its precision says. */
export function whenText(event: Pick<EventBody, 'time' | 'end_time' | 'precision'>): string {
  const time = parse(event.time);
  if (time === null) return event.time;
  const end = event.end_time ? parse(event.end_time) : null;
  const start = preciseText(time, event.precision ?? '');
  if (end === null || end === time) return start;
  const isSameDay = dateForPeople(time) === dateForPeople(end);
  const isToTheHour = !['year', 'month', 'day'].includes(event.precision ?? '');
  return `${start} – ${isSameDay && isToTheHour ? clockWords(end) : preciseText(end, event.precision ?? '')}`;
}

function clockWords(time: Micros): string {
  // What people write after the comma of a date.
  return preciseText(time, '').split(', ')[1] ?? '00:00';
}

export function preciseText(time: Micros, precision: string): string {
  const at = toCivil(time);
  if (precision === 'year') return yearForPeople(at.year);
  if (precision === 'month') return `${MONTHS[at.month - 1]} ${yearForPeople(at.year)}`;
  if (precision === 'day') return dateForPeople(time);
  const text = forPeople(time);
  return at.micros === 0 ? text : `${text}.${String(at.micros).padStart(6, '0').replace(/0+$/, '')}`;
}

/** Returns how long an event lasts, or nothing for a moment. */
export function lengthText(event: Pick<EventBody, 'time' | 'end_time'>): string {
  const time = parse(event.time);
  const end = event.end_time ? parse(event.end_time) : null;
  return time === null || end === null || end <= time ? '' : distance(end - time);
}

/** Returns a range, as exactly as its length calls for: "1914 – 1945", "20 July 1969, 20:17 – 20:40". */
export function rangeText(from: Micros, to: Micros): string {
  const span = to - from;
  const a = toCivil(from);
  const b = toCivil(to);
  if (span > 1_500n * DAY) return `${yearForPeople(a.year)} – ${yearForPeople(b.year)}`;
  if (span > 90n * DAY) return `${MONTHS[a.month - 1]} ${yearForPeople(a.year)} – ${MONTHS[b.month - 1]} ${yearForPeople(b.year)}`;
  if (span > 3n * DAY) return `${dateForPeople(from)} – ${dateForPeople(to)}`;
  const first = `${dateForPeople(from)}, ${clockText(from, span)}`;
  const isSameDay = dateForPeople(from) === dateForPeople(to);
  return isSameDay ? `${first} – ${clockText(to, span)}` : `${first} – ${dateForPeople(to)}, ${clockText(to, span)}`;
}

function clockText(time: Micros, span: Micros): string {
  const { hour, minute, second, micros } = toCivil(time);
  const two = (value: number): string => String(value).padStart(2, '0');
  if (span > 6n * HOUR / 2n) return `${two(hour)}:${two(minute)}`;
  const seconds = `${two(hour)}:${two(minute)}:${two(second)}`;
  if (span > 2n * MINUTE) return seconds;
  const digits = span > 2n * SECOND ? 3 : 6;
  return `${seconds}.${String(micros).padStart(6, '0').slice(0, digits)}`;
}

/** Returns a whole number as people write it. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

/** Writes a range for an address, and reads it. */
export function rangeParam(from: Micros, to: Micros): string {
  return `${format(from)}/${format(to)}`;
}

export function parseRange(text: string | null): { from: Micros; to: Micros } | null {
  const [a, b] = (text ?? '').split('/');
  const from = parse(a ?? '');
  const to = parse(b ?? '');
  return from === null || to === null || to <= from ? null : { from, to };
}
