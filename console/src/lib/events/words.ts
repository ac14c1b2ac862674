/** Time ranges and counts as display text. */
import { DAY, HOUR, MINUTE, SECOND, format, formatYear, type Micros, monthName } from '../time/instant';
import { dateText, displayCivil } from '../time/display';

/** Returns a range with a precision that fits its length: "1914 – 1945", "20 July 1969, 20:17 – 20:40". */
export function rangeText(from: Micros, to: Micros): string {
  const span = to - from;
  const a = displayCivil(from);
  const b = displayCivil(to);
  const whole = wholeText(from, to);
  if (whole !== null) return whole;
  if (span > 1_500n * DAY) return `${formatYear(a.year)} – ${formatYear(b.year)}`;
  if (span > 90n * DAY)
    return `${monthName(a.month)} ${formatYear(a.year)} – ${monthName(b.month)} ${formatYear(b.year)}`;
  if (span > 3n * DAY) return `${dateText(from)} – ${dateText(to)}`;
  const first = `${dateText(from)}, ${clockText(from, span)}`;
  const isSameDay = dateText(from) === dateText(to);
  return isSameDay ? `${first} – ${clockText(to, span)}` : `${first} – ${dateText(to)}, ${clockText(to, span)}`;
}

/** Returns the text of a range that is exactly one year, month or day, or null. */
function wholeText(from: Micros, to: Micros): string | null {
  const [a, b] = [displayCivil(from), displayCivil(to)];
  if ([a, b].some(({ hour, minute, second, micros }) => hour + minute + second + micros > 0)) return null;
  const months = (b.year - a.year) * 12 + b.month - a.month;
  if (a.day === 1 && b.day === 1 && a.month === 1 && months === 12) return formatYear(a.year);
  if (a.day === 1 && b.day === 1 && months === 1) return `${monthName(a.month)} ${formatYear(a.year)}`;
  return to - from === DAY ? dateText(from) : null;
}

function clockText(time: Micros, span: Micros): string {
  const { hour, minute, second, micros } = displayCivil(time);
  const two = (value: number): string => String(value).padStart(2, '0');
  if (span > (6n * HOUR) / 2n) return `${two(hour)}:${two(minute)}`;
  const seconds = `${two(hour)}:${two(minute)}:${two(second)}`;
  if (span > 2n * MINUTE) return seconds;
  const digits = span > 2n * SECOND ? 3 : 6;
  return `${seconds}.${String(micros).padStart(6, '0').slice(0, digits)}`;
}

/** Returns a count with its noun. */
export function countText(count: number, singular: string, plural = `${singular}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? singular : plural}`;
}

/** Returns a number of entries of a ledger. */
export function entriesText(count: number): string {
  return countText(count, 'entry', 'entries');
}

/** Returns a range as a URL parameter. */
export function rangeParam(from: Micros, to: Micros): string {
  return `${format(from)}/${format(to)}`;
}

/** Returns a point for display, or an empty string without coordinates. */
export function placeText(lat: number, lon: number): string {
  return Number.isNaN(lat)
    ? ''
    : `${Math.abs(lat).toFixed(1)}° ${lat < 0 ? 'S' : 'N'}, ${Math.abs(lon).toFixed(1)}° ${lon < 0 ? 'W' : 'E'}`;
}
