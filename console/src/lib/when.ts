/** When something happened, in the words of people: no more exactly than is known. */
import { dateForPeople, distance, monthName, parse, toCivil, yearForPeople, type Micros } from './instant';
import { dateText, momentText, shownCivil } from './people';

/** The time of an event, as the service tells it. */
interface EventTime {
  time: string;
  end_time?: string | null;
  precision?: string | null;
}

/** What is known as a date is that date in every zone. */
const DATES = new Set(['year', 'month', 'day']);

/** Returns a moment as exactly as its precision says. */
export function whenText(event: EventTime): string {
  const time = parse(event.time);
  if (time === null) return event.time;
  const end = event.end_time ? parse(event.end_time) : null;
  const start = preciseText(time, event.precision ?? '');
  if (end === null || end === time) return start;
  const isSameDay = dateText(time) === dateText(end);
  const isToTheHour = !DATES.has(event.precision ?? '');
  return `${start} – ${isSameDay && isToTheHour ? clockWords(end) : preciseText(end, event.precision ?? '')}`;
}

function clockWords(time: Micros): string {
  // What people write after the comma of a date.
  const { hour, minute } = shownCivil(time);
  const text = preciseText(time, '').split(', ')[1];
  return text ?? [hour, minute].map((part) => String(part).padStart(2, '0')).join(':');
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
