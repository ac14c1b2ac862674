/** Periods offered by time filters. */
import { DAY, HOUR, type Micros } from './instant';

/** URL values, titles and lengths. */
export const PERIODS: readonly (readonly [string, string, Micros])[] = [
  ['1h', 'Last hour', HOUR],
  ['24h', 'Last 24 hours', DAY],
  ['7d', 'Last 7 days', 7n * DAY],
  ['30d', 'Last 30 days', 30n * DAY],
  ['365d', 'Last 365 days', 365n * DAY],
];

/** A range with explicit ends. */
export const CUSTOM = 'custom';

/** Returns the length of a period; null if it is not relative to now. */
export function lengthOf(period: string | null): Micros | null {
  return PERIODS.find(([id]) => id === period)?.[2] ?? null;
}
