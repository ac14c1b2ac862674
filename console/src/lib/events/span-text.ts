/** The length of a time range, consistent with its displayed dates. */
import { DAY, distance, fromCivil, type Micros } from '../time/instant';
import { displayCivil } from '../time/display';
import { countText } from './words';

const ofDay = { hour: 0, minute: 0, second: 0, micros: 0 };

/**
 * Returns the length between the two dates that `rangeText` shows: "1843 – 2033" is 190 years, whatever the days at its
 * ends. Any other number would look wrong next to those dates.
 */
export function spanText(from: Micros, to: Micros): string {
  const span = to - from;
  const [a, b] = [displayCivil(from), displayCivil(to)];
  if (span > 1_500n * DAY) return countText(b.year - a.year, 'year');
  const months = (b.year - a.year) * 12 + b.month - a.month;
  if (span > 90n * DAY) return months < 12 ? countText(months, 'month') : yearsText(months);
  if (span > 3n * DAY) return distance(fromCivil({ ...b, ...ofDay }) - fromCivil({ ...a, ...ofDay }));
  return distance(span);
}

const yearsText = (months: number): string => countText(Math.round((months / 12) * 10) / 10, 'year');
