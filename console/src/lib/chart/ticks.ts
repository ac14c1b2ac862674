/** Positions and labels of axis ticks, from millennia to single microseconds. */
import {
  DAY,
  HOUR,
  MINUTE,
  SECOND,
  daysFromCivil,
  daysInMonth,
  floorDiv,
  monthName,
  toCivil,
  formatYear,
  type Micros,
} from '../time/instant';
import { zone } from '../time/zone.svelte';
import { FIRST, LAST, timeAt, xOf, type Scale } from './scale';

interface Tick {
  time: Micros;
  x: number;
  label: string;
  /** Whether a larger unit begins here, such as a year among months or midnight among hours. */
  isMajor: boolean;
}

export interface Ticks {
  ticks: Tick[];
  /** Larger periods, such as days above hours. The first one covers the left edge. */
  periods: Tick[];
}

type Step =
  | { unit: 'fixed'; size: bigint; room: number }
  | { unit: 'day'; days: readonly number[]; room: number }
  | { unit: 'month'; months: number; room: number }
  | { unit: 'year'; years: number; room: number };

const fixed = (unit: bigint, counts: number[], room: number): Step[] =>
  counts.map((count) => ({ unit: 'fixed', size: unit * BigInt(count), room }));

/** From fine to coarse. `room` is the minimum pixel width of a label. */
const STEPS: readonly Step[] = [
  ...fixed(1n, [1, 2, 5, 10, 20, 50, 100, 200, 500], 92),
  ...fixed(1_000n, [1, 2, 5, 10, 20, 50, 100, 200, 500], 76),
  ...fixed(SECOND, [1, 2, 5, 10, 15, 30], 76),
  ...fixed(MINUTE, [1, 2, 5, 10, 15, 30], 56),
  ...fixed(HOUR, [1, 2, 3, 6, 12], 56),
  { unit: 'day', days: [], room: 52 },
  { unit: 'day', days: [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29], room: 52 },
  { unit: 'day', days: [1, 8, 15, 22], room: 56 },
  { unit: 'month', months: 1, room: 50 },
  { unit: 'month', months: 3, room: 50 },
  { unit: 'month', months: 6, room: 50 },
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000].map((years): Step => ({
    unit: 'year',
    years,
    room: 76,
  })),
];

const YEAR = 31_556_952n * SECOND;

function lengthOf(step: Step): number {
  switch (step.unit) {
    case 'fixed':
      return Number(step.size);
    case 'day':
      return Number(DAY) * (step.days.length === 0 ? 1 : Math.floor(30 / step.days.length));
    case 'month':
      return (Number(YEAR) / 12) * step.months;
    case 'year':
      return Number(YEAR) * step.years;
  }
}

function startOfYear(year: number): Micros {
  return BigInt(daysFromCivil(year, 1, 1)) * DAY;
}

const startOfMonth = (year: number, month: number): Micros => BigInt(daysFromCivil(year, month, 1)) * DAY;

/** Returns the ticks and periods of the visible range. */
export function ticks(view: Scale): Ticks {
  const step =
    STEPS.find((candidate) => lengthOf(candidate) / view.pixel >= candidate.room) ?? STEPS[STEPS.length - 1]!;
  // Days start at midnight of the displayed zone, so ticks are computed in local time and then converted.
  const from = zone.at(timeAt(view, -80));
  const to = zone.at(timeAt(view, view.width + 80));
  const tick = (local: Micros): Tick => {
    const time = zone.from(local);
    return { time, x: xOf(view, time), ...label(step, local) };
  };
  return { ticks: instants(step, from, to).map(tick), periods: periods(view, step) };
}

function instants(step: Step, from: Micros, to: Micros): Micros[] {
  const found: Micros[] = [];
  const take = (time: Micros): void => {
    if (time >= from && time <= to && time >= FIRST && time <= LAST) found.push(time);
  };
  if (step.unit === 'fixed') {
    for (let time = -floorDiv(-from, step.size) * step.size; time <= to; time += step.size) take(time);
    return found;
  }
  const first = toCivil(from);
  const last = toCivil(to);
  if (step.unit === 'year') {
    for (let year = floorYear(first.year, step.years); year <= last.year; year = nextYear(year, step.years))
      take(startOfYear(year));
    return found;
  }
  const months = step.unit === 'month' ? step.months : 1;
  let year = first.year;
  let month = step.unit === 'month' ? first.month - ((first.month - 1) % months) : first.month;
  while (year < last.year || (year === last.year && month <= last.month)) {
    if (step.unit === 'month') {
      take(startOfMonth(year, month));
    } else {
      const days =
        step.days.length > 0 ? step.days : Array.from({ length: daysInMonth(year, month) }, (_, index) => index + 1);
      const start = startOfMonth(year, month);
      for (const day of days) if (day <= daysInMonth(year, month)) take(start + BigInt(day - 1) * DAY);
    }
    month += months;
    if (month > 12) {
      month -= 12;
      year += 1;
    }
  }
  return found;
}

/**
 * Aligns a year to a step: 100, 200, … and 100 BCE, 200 BCE, …. Steps of several years also have a tick at year 1,
 * because people do not use a year 0.
 */
function floorYear(year: number, step: number): number {
  if (step === 1) return year;
  if (year >= step) return Math.floor(year / step) * step;
  if (year >= 1) return 1;
  return 1 - Math.ceil((1 - year) / step) * step;
}

function nextYear(year: number, step: number): number {
  if (step === 1 || year >= step || year < 1 - step) return year + step;
  return year >= 1 ? step : year + step === 1 ? 1 : floorYear(year + step, step);
}

const two = (value: number): string => String(value).padStart(2, '0');

function label(step: Step, time: Micros): { label: string; isMajor: boolean } {
  const at = toCivil(time);
  const year = formatYear(at.year);
  if (step.unit === 'year')
    return { label: at.year === 1 && step.years > 1 ? '1 CE' : year, isMajor: at.year === 1 && step.years > 1 };
  const month = monthName(at.month).slice(0, 3);
  if (step.unit === 'month') return { label: month, isMajor: at.month === 1 };
  if (step.unit === 'day') return { label: String(at.day), isMajor: at.day === 1 };
  if (step.size >= MINUTE) return { label: `${two(at.hour)}:${two(at.minute)}`, isMajor: at.hour + at.minute === 0 };
  if (at.micros === 0)
    return { label: `${two(at.hour)}:${two(at.minute)}:${two(at.second)}`, isMajor: step.size < SECOND };
  const digits = step.size >= 1_000n ? 0 : 3;
  return { label: `${(at.micros / 1_000).toFixed(digits)} ms`, isMajor: false };
}

function periods(view: Scale, step: Step): Tick[] {
  if (step.unit === 'year') return [];
  const from = zone.at(timeAt(view, 0));
  const to = zone.at(timeAt(view, view.width));
  const found: Tick[] = [];
  const add = (local: Micros, text: string): void => {
    const time = zone.from(local);
    found.push({ time, x: xOf(view, time), label: text, isMajor: true });
  };
  if (step.unit === 'month') {
    for (let year = toCivil(from).year; year <= toCivil(to).year; year += 1) add(startOfYear(year), formatYear(year));
    return found;
  }
  if (step.unit === 'day') {
    const last = toCivil(to);
    for (let { year, month } = toCivil(from); year < last.year || (year === last.year && month <= last.month);) {
      add(startOfMonth(year, month), `${monthName(month)} ${formatYear(year)}`);
      month += 1;
      if (month > 12) {
        month = 1;
        year += 1;
      }
    }
    return found;
  }
  const size = step.size < SECOND ? SECOND : DAY;
  for (let time = floorDiv(from, size) * size; time <= to; time += size) {
    const at = toCivil(time);
    const date = `${at.day} ${monthName(at.month)} ${formatYear(at.year)}`;
    add(time, size === DAY ? date : `${date}, ${two(at.hour)}:${two(at.minute)}:${two(at.second)}`);
  }
  return found;
}
