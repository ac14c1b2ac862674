/** Stretches of time by how long ago they began, for every filter that has one. */
import { DAY, HOUR, type Micros } from './instant';

/** As addresses write them, with their words. */
export const PERIODS: readonly (readonly [string, string, Micros])[] = [
  ['1h', 'Last hour', HOUR],
  ['24h', 'Last 24 hours', DAY],
  ['7d', 'Last 7 days', 7n * DAY],
  ['30d', 'Last 30 days', 30n * DAY],
  ['365d', 'Last 365 days', 365n * DAY],
];

/** From a time that is typed to another. */
export const CUSTOM = 'custom';

/** Returns how long a period is; null for one that does not go by now. */
export function lengthOf(period: string | null): Micros | null {
  return PERIODS.find(([id]) => id === period)?.[2] ?? null;
}
