/** Periods relative to the clock, as URL parameters of the axis: `24h` before now, `next-P1M` after now. */
import { readDuration, shift } from './duration';
import type { Micros } from './instant';
import { PERIODS } from './periods';

/** Calendar periods of varying length. */
const MONTHS: readonly (readonly [string, string])[] = [
  ['P1M', 'Last month'],
  ['P1Y', 'Last year'],
];
const KNOWN = [...PERIODS.map(([id, title]) => [id, title] as const), ...MONTHS];
const AHEAD = 'next-';

const lengthIn = (period: string): string => (period.startsWith(AHEAD) ? period.slice(AHEAD.length) : period);

/** Whether a URL parameter is a valid period. */
export function isPeriod(text: string | null): text is string {
  return text !== null && KNOWN.some(([id]) => id === lengthIn(text));
}

/** Returns a period in words, such as "Last 24 hours" or "Next month". */
export function periodText(period: string): string {
  const title = KNOWN.find(([id]) => id === lengthIn(period))?.[1] ?? period;
  return period.startsWith(AHEAD) ? title.replace('Last', 'Next') : title;
}

/** Returns the range of a period at a clock time; null for an invalid period. */
export function periodRange(period: string | null, now: Micros): { from: Micros; to: Micros } | null {
  const read = isPeriod(period) ? readDuration(lengthIn(period)) : null;
  if (read?.ok !== true || period === null) return null;
  return period.startsWith(AHEAD)
    ? { from: now, to: shift(now, read.duration, 1) }
    : { from: shift(now, read.duration, -1), to: now };
}
