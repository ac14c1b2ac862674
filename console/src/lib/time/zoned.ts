/**
 * Timestamps in fields: shown in the zone that is chosen, and read there where nothing else is said. What the service
 * gets is UTC all the same.
 */
import { readBce } from './bce';
import { MINUTE, format, parse, type Micros } from './instant';
import { offsetAt } from '../places/place';
import { BRACKETS } from './timestamp';
import { UTC, fixedOffset, isZone, zone, type DisplayZone } from './zone.svelte';

const OFFSET = /(Z|[+-]\d{2}:?\d{2})$/i;
const DATE = /^([+-]\d{6}|-?\d{4})-\d{2}-\d{2}$/;

const two = (value: bigint): string => String(value).padStart(2, '0');

/** The zone of a field: the one that is chosen for the page, or another one. */
type FieldZone = Pick<DisplayZone, 'offset' | 'from'>;

/** Returns a moment as a field shows it: `2028-02-29T09:00:00+09:00` where that is the time of its zone. */
export function zonedField(instant: Micros, by: FieldZone = zone): string {
  const offset = by.offset(instant);
  const size = (offset < 0n ? -offset : offset) / MINUTE;
  // Local mean time has seconds, which no timestamp can say.
  if (offset === 0n || offset % MINUTE !== 0n) return format(instant);
  return `${format(instant + offset).slice(0, -1)}${offset < 0n ? '-' : '+'}${two(size / 60n)}:${two(size % 60n)}`;
}

/**
 * Reads a timestamp, or a date alone such as `1969-07-20` or `44 BCE`, which is its beginning. Its zone is its offset,
 * or a name in brackets as in `2028-02-29T09:00[Asia/Tokyo]`, or that of the field. Returns null for anything else, and
 * where an offset and a name disagree.
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
  // `Z` with a name says when, and leaves open what the clocks there show.
  const agrees = /^z$/i.test(offset) || (local !== null && fromLocal(local, place) === read);
  return agrees ? read : null;
}

/** Returns how much is known of a moment where a date alone is typed; nothing for a moment, and for anything else. */
export function precisionOf(text: string): 'year' | 'month' | 'day' | '' {
  const bare = text.replace(BRACKETS, '').trim();
  return readBce(bare)?.precision ?? (DATE.test(bare) ? 'day' : '');
}

/** Returns when a date alone begins by UTC, whatever zone is chosen; null for anything else. */
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

/** Returns the moment at which clocks show so much. */
const fromLocal = (local: Micros, offsetOf: OffsetOf): Micros => local - offsetOf(local - offsetOf(local));
