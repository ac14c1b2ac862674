/**
 * iCalendar rules and cron expressions as sentences. A rule that a sentence cannot express exactly is shown unchanged.
 */
import { format, parse, MONTHS, monthName } from '../time/instant';

const WEEKDAYS: Readonly<Record<string, string>> = {
  MO: 'Monday',
  TU: 'Tuesday',
  WE: 'Wednesday',
  TH: 'Thursday',
  FR: 'Friday',
  SA: 'Saturday',
  SU: 'Sunday',
};
const WORKING = 'MO,TU,WE,TH,FR';
const UNITS: Readonly<Record<string, string>> = {
  SECONDLY: 'second',
  MINUTELY: 'minute',
  HOURLY: 'hour',
  DAILY: 'day',
  WEEKLY: 'week',
  MONTHLY: 'month',
  YEARLY: 'year',
};
const KNOWN = ['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'BYMONTH', 'BYMONTHDAY', 'BYDAY', 'BYHOUR', 'BYMINUTE'];

/** Joins words with commas and a final conjunction. */
function list(words: readonly string[], last = 'and'): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1) ?? ''}`;
}

/** Returns `1st`, `22nd`, `13th`. */
function ordinal(number: number): string {
  const tens = Math.floor(number / 10) % 10;
  const end = tens === 1 ? 'th' : (['th', 'st', 'nd', 'rd'][number % 10] ?? 'th');
  return `${number}${end}`;
}

/** Returns `last`, `second to last`, or `1st`. */
function counted(number: number): string {
  if (number > 0) return ordinal(number);
  return number === -1 ? 'last' : `${ordinal(-number)} to last`;
}

/** Parses comma-separated numbers within a range; null if any is invalid. Ranges with negative numbers exclude 0. */
function numbers(text: string, low: number, high: number): number[] | null {
  const found = text.split(',').map((part) => (/^[+-]?\d{1,3}$/.test(part) ? Number(part) : Number.NaN));
  const isIn = (number: number): boolean => number >= low && number <= high && !(low < 0 && number === 0);
  return found.every(isIn) ? found : null;
}

const every = (unit: string, interval: number): string =>
  interval === 1 ? `every ${unit}` : `every ${interval} ${unit}s`;
const ends = (names: readonly string[]): string => `${names[0] ?? ''} to ${names.at(-1) ?? ''}`;
const two = (number: number): string => String(number).padStart(2, '0');

/** Returns ` at 09:00 and 17:30`; null for too many times of day. */
function clockTimes(hours: readonly number[], minutes: readonly number[]): string | null {
  if (hours.length * minutes.length > 6) return null;
  return ` at ${list(hours.flatMap((hour) => minutes.map((minute) => `${two(hour)}:${two(minute)}`)))}`;
}

/** Returns what happens in months without the day; empty if all months have it. */
function skipped(days: readonly number[], skip: string): string | null {
  if (Math.max(...days.map(Math.abs)) <= 28) return '';
  if (skip === 'OMIT') return ', if there is one';
  if (days.some((day) => day < 0)) return null;
  return skip === 'BACKWARD' ? ', or the last day if there is none' : ', or the first of the next if there is none';
}

type Parts = ReadonlyMap<string, string>;

function partsOf(rule: string): Parts | null {
  const parts = new Map<string, string>();
  for (const part of rule
    .trim()
    .toUpperCase()
    .replace(/^RRULE:/, '')
    .split(';')
    .filter(Boolean)) {
    const [name = '', value = '', ...more] = part.split('=');
    if (value === '' || more.length > 0 || parts.has(name)) return null;
    parts.set(name, value);
  }
  return parts;
}

/** Returns the weekdays, with their ordinals within a month or year. */
function weekdays(text: string, unit: string, setpos: string | undefined): string | null {
  const found = text.split(',').flatMap((part) => /^([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)$/.exec(part) ?? []);
  if (found.length !== 3 * text.split(',').length) return null;
  const names = found.filter((_, index) => index % 3 === 2).map((name) => WEEKDAYS[name] ?? '');
  const places = found.filter((_, index) => index % 3 === 1) as (string | undefined)[];
  const isNumbered = places.every((place) => place !== undefined);
  if (!isNumbered && places.some((place) => place !== undefined)) return null;
  const isMonthly = unit === 'month';
  if (setpos !== undefined) {
    const at = numbers(setpos, -31, 31);
    if (at === null || isNumbered || !isMonthly) return null;
    const kind = text === WORKING ? 'working day' : names.length === 1 ? names.join('') : `of ${list(names, 'or')}`;
    if (kind.startsWith('of ')) return null;
    return ` on the ${list(at.map(counted))} ${kind}`;
  }
  if (isNumbered) {
    return isMonthly
      ? ` on the ${list(names.map((name, index) => `${counted(Number(places[index]))} ${name}`))}`
      : null;
  }
  if (unit !== 'week' && unit !== 'day') return null;
  return text === WORKING ? ' from Monday to Friday' : ` on ${list(names)}`;
}

/** Returns the days of a rule within its unit; null if a sentence cannot express them. */
function daysOf(parts: Parts, unit: string): string | null {
  const [days, monthDays, setpos] = [parts.get('BYDAY'), parts.get('BYMONTHDAY'), parts.get('BYSETPOS')];
  const skip = parts.get('SKIP') ?? 'OMIT';
  if (!['OMIT', 'BACKWARD', 'FORWARD'].includes(skip)) return null;
  if (monthDays === undefined) {
    if (parts.has('SKIP')) return null;
    if (days === undefined) return setpos === undefined ? '' : null;
    return weekdays(days, unit, setpos);
  }
  const found = numbers(monthDays, -31, 31);
  if (found === null || days !== undefined || setpos !== undefined || (unit !== 'month' && unit !== 'year'))
    return null;
  if (unit === 'year') {
    const month = numbers(parts.get('BYMONTH') ?? '', 1, 12);
    if (month?.length !== 1 || parts.has('SKIP') || found.some((day) => day < 0 || day > 28)) return null;
    return ` on ${list(found.map(String))} ${month.map(monthName).join('')}`;
  }
  const rest = skipped(found, skip);
  const dayTexts = found.map((day) => (day === -1 ? 'last day' : day < 0 ? `${counted(day)} day` : ordinal(day)));
  return rest === null ? null : ` on the ${list(dayTexts)}${rest}`;
}

/** Returns the times of day; null if a sentence cannot express them. */
function timesOf(parts: Parts, unit: string): string | null {
  if (!parts.has('BYHOUR') && !parts.has('BYMINUTE')) return '';
  if (['second', 'minute', 'hour'].includes(unit)) return null;
  const hours = numbers(parts.get('BYHOUR') ?? '', 0, 23);
  const minutes = numbers(parts.get('BYMINUTE') ?? '', 0, 59);
  return hours === null || minutes === null ? null : clockTimes(hours, minutes);
}

/** Returns the end date or the number of repetitions. */
function endOf(parts: Parts): string | null {
  const [count, until] = [parts.get('COUNT'), parts.get('UNTIL')];
  if (count !== undefined) return /^\d+$/.test(count) ? `, ${count} time${count === '1' ? '' : 's'}` : null;
  if (until === undefined) return '';
  const isTime = /^\d{8}(T\d{6}Z?)?$/.test(until);
  const at = isTime ? parse(`${until.slice(0, 4)}-${until.slice(4, 6)}-${until.slice(6, 8)}T00:00:00Z`) : null;
  return at === null ? null : `, until ${format(at).slice(0, 10)}`;
}

/** Returns an iCalendar rule as a sentence without capital or full stop; null if no sentence expresses it exactly. */
export function ruleText(rule: string): string | null {
  const parts = partsOf(rule);
  const unit = UNITS[parts?.get('FREQ') ?? ''];
  if (parts === null || unit === undefined) return null;
  if ([...parts.keys()].some((name) => !KNOWN.includes(name) && name !== 'BYSETPOS' && name !== 'SKIP')) return null;
  const interval = Number(parts.get('INTERVAL') ?? '1');
  if (!Number.isInteger(interval) || interval < 1) return null;
  const [days, times, end] = [daysOf(parts, unit), timesOf(parts, unit), endOf(parts)];
  if (days === null || times === null || end === null) return null;
  let months = '';
  if (parts.has('BYMONTH') && !(unit === 'year' && parts.has('BYMONTHDAY'))) {
    const found = numbers(parts.get('BYMONTH') ?? '', 1, 12);
    if (found === null || unit === 'year') return null;
    months = ` in ${list(found.map(monthName))}`;
  }
  return `${every(unit, interval)}${days}${months}${times}${end}`;
}

/** A field of a cron expression: all values, a step, or a list of values. */
type CronField = 'all' | { step: number } | { values: number[]; isRange: boolean };

const MONTH_NAMES = MONTHS.map((month) => month.slice(0, 3).toUpperCase());
const DAY_NAMES = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

function cronField(text: string, low: number, high: number, names: readonly string[] = []): CronField | null {
  if (text === '*') return 'all';
  const step = /^\*\/([1-9]\d?)$/.exec(text);
  if (step !== null) return { step: Number(step[1]) };
  const parseNumber = (part: string): number => {
    const name = names.indexOf(part.toUpperCase());
    const number = name >= 0 ? name + (low === 1 ? 1 : 0) : /^\d{1,2}$/.test(part) ? Number(part) : Number.NaN;
    return number >= low && number <= high ? number : Number.NaN;
  };
  const values: number[] = [];
  for (const part of text.split(',')) {
    const [from = Number.NaN, to = from, ...more] = part.split('-').map(parseNumber);
    if (more.length > 0 || !(to >= from)) return null;
    for (let value = from; value <= to; value += 1) values.push(value);
  }
  return { values, isRange: /^[^,]+-[^,]+$/.test(text) };
}

/** Returns the times of a cron expression, and whether they are times of day. */
function cronTimes(minute: CronField, hour: CronField): { text: string; isOfDay: boolean } | null {
  if (minute === 'all') return hour === 'all' ? { text: 'every minute', isOfDay: false } : null;
  if ('step' in minute) {
    // A step that does not divide the hour restarts every hour.
    const isEven = 60 % minute.step === 0;
    return hour === 'all' && isEven ? { text: every('minute', minute.step), isOfDay: false } : null;
  }
  const [first] = minute.values;
  if (hour === 'all' || 'step' in hour) {
    if (minute.values.length > 1 || (hour !== 'all' && 24 % hour.step !== 0)) return null;
    const text = every('hour', hour === 'all' ? 1 : hour.step);
    return { text: first === 0 ? text : `${text}, at minute ${first ?? 0}`, isOfDay: false };
  }
  const text = clockTimes(hour.values, minute.values);
  return text === null ? null : { text, isOfDay: true };
}

/** Returns the days of a cron expression: empty for every day, null if a sentence cannot express them. */
function cronDays(day: CronField, month: CronField, weekday: CronField): string | null {
  if ([day, month, weekday].some((field) => field !== 'all' && 'step' in field)) return null;
  if (day !== 'all' && weekday !== 'all') return null;
  let text = '';
  if (weekday !== 'all' && 'values' in weekday) {
    const names = weekday.values.map((value) => Object.values(WEEKDAYS)[(value + 6) % 7] ?? '');
    text = weekday.isRange && names.length > 2 ? `from ${ends(names)}` : `on ${list(names)}`;
  }
  if (day !== 'all' && 'values' in day) {
    if (day.values.length > 6) return null;
    // Months without the day are skipped.
    const isInAll = Math.max(...day.values) <= 28;
    if (!isInAll && month !== 'all') return null;
    text = `on the ${list(day.values.map(ordinal))} of ${isInAll ? 'each month' : 'months that have one'}`;
    if (month === 'all') return text;
    text = `on the ${list(day.values.map(ordinal))} of `;
  }
  if (month === 'all' || !('values' in month)) return text;
  const months = month.values.map(monthName);
  const monthText = month.isRange && months.length > 2 ? ends(months) : list(months);
  return text.endsWith(' of ') ? text + monthText : `${text === '' ? 'every day' : text} in ${monthText}`;
}

/** Returns a cron expression as a sentence without capital or full stop; null if no sentence expresses it exactly. */
export function cronText(expression: string): string | null {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 5) return null;
  const [minutes = '', hours = '', days = '', months = '', weekdays = ''] = fields;
  const [minute, hour] = [cronField(minutes, 0, 59), cronField(hours, 0, 23)];
  const [day, month] = [cronField(days, 1, 31), cronField(months, 1, 12, MONTH_NAMES)];
  const weekday = cronField(weekdays, 0, 7, DAY_NAMES);
  if (minute === null || hour === null || day === null || month === null || weekday === null) return null;
  const [times, dayText] = [cronTimes(minute, hour), cronDays(day, month, weekday)];
  if (times === null || dayText === null) return null;
  // Weekdays repeat: "every Monday", not "on Monday".
  if (times.isOfDay) return `${dayText === '' ? 'every day' : dayText.replace(/^on (?!the )/, 'every ')}${times.text}`;
  return dayText === '' ? times.text : `${times.text}, ${dayText}`;
}
