/** Timestamps in form fields, shown and parsed in the selected zone unless they specify one. Requests use UTC. */
import { readBce } from './bce';
import { MINUTE, format, parse, type Micros } from './instant';
import { offsetAt } from '../places/place';
import { BRACKETS } from './timestamp';
import { UTC, fixedOffset, isZone, zone, type DisplayZone } from './zone.svelte';

const OFFSET = /(Z|[+-]\d{2}:?\d{2})$/i;
const DATE = /^([+-]\d{6}|-?\d{4})-\d{2}-\d{2}$/;

const two = (value: bigint): string => String(value).padStart(2, '0');

/** The zone of a field: the selected one or another. */
type FieldZone = Pick<DisplayZone, 'offset' | 'from'>;

/** Returns an instant as a field value: `2028-02-29T09:00:00+09:00`. */
export function zonedField(instant: Micros, by: FieldZone = zone): string {
  const offset = by.offset(instant);
  const size = (offset < 0n ? -offset : offset) / MINUTE;
  // Local mean time has an offset in seconds, which timestamps do not support.
  if (offset === 0n || offset % MINUTE !== 0n) return format(instant);
  return `${format(instant + offset).slice(0, -1)}${offset < 0n ? '-' : '+'}${two(size / 60n)}:${two(size % 60n)}`;
}

/**
 * Parses a timestamp, or a date such as `1969-07-20` or `44 BCE`, which means its start. The zone is its offset, a name
 * in brackets as in `2028-02-29T09:00[Asia/Tokyo]`, or the field's zone. Returns null if the text is invalid or if
 * offset and name disagree.
 */
export function readMoment(text: string, by: FieldZone = zone): Micros | null {
  const given = text.trim();
  const name = BRACKETS.exec(given)?.[0].slice(1, -1) ?? null;
  const written = given.replace(BRACKETS, '').trim();
  const bare = readBce(written)?.date ?? written;
  const whole = DATE.test(bare) ? `${bare}T00:00` : bare;
  const read = parse(whole);
  if (read === null) return null;
  const offset = OFFSET.exec(whole.slice(11))?.[0] ?? null;
  if (name === null) return offset === null ? by.from(read) : read;
  const place = zoneNamed(name);
  if (place === null) return null;
  if (offset === null) return fromLocal(read, place);
  const local = parse(whole.slice(0, -offset.length));
  // `Z` with a name fixes the instant and implies no local time (RFC 9557).
  const agrees = /^z$/i.test(offset) || (local !== null && fromLocal(local, place) === read);
  return agrees ? read : null;
}

/** Returns the precision of a date without a time; an empty string for other text. */
export function precisionOf(text: string): 'year' | 'month' | 'day' | '' {
  const bare = text.replace(BRACKETS, '').trim();
  return readBce(bare)?.precision ?? (DATE.test(bare) ? 'day' : '');
}

/** Returns the UTC start of a date without a time, whatever the selected zone; null for other text. */
export function readDate(text: string): Micros | null {
  const bare = readBce(text)?.date ?? text.trim();
  return DATE.test(bare) ? parse(`${bare}T00:00`) : null;
}

type OffsetOf = (instant: Micros) => Micros;

function zoneNamed(name: string): OffsetOf | null {
  if (name === UTC) return () => 0n;
  const fixed = fixedOffset(name);
  if (fixed !== null) return () => fixed;
  return name.includes('/') && isZone(name) ? (instant) => offsetAt(name, instant) : null;
}

/** Returns the instant of a local time. */
const fromLocal = (local: Micros, offsetOf: OffsetOf): Micros => local - offsetOf(local - offsetOf(local));
