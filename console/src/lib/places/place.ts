/** Locations in the formats of the API: coordinates, a zone, or a name in the service's gazetteer. */
import { service } from '../service/api';
import { HOUR, floorDiv, type Micros } from '../time/instant';

export interface Point {
  lat: number;
  lon: number;
}

/** A place as resolved by the service. */
export interface ResolvedPlace {
  kind: string;
  place?: string | null;
  is_ambiguous?: boolean | null;
  alternatives?: string[] | null;
  suggestions?: string[] | null;
  lat?: number | null;
  lon?: number | null;
}

/** Parses `lat,lon` or a `geo:` URI. */
export function coordinates(text: string): Point | null {
  const parts = /^(?:geo:)?\s*(-?\d+(?:\.\d+)?)\s*,\s*(-?\d+(?:\.\d+)?)/i.exec(text.trim());
  if (parts === null) return null;
  const point = { lat: Number(parts[1]), lon: Number(parts[2]) };
  return Math.abs(point.lat) <= 90 && Math.abs(point.lon) <= 180 ? point : null;
}

/** Returns coordinates for the API and for display. Two decimals are about one kilometer. */
export function pointText({ lat, lon }: Point): string {
  return `${lat.toFixed(2)},${lon.toFixed(2)}`;
}

let zones: Map<string, string> | null = null;

/**
 * Returns the IANA zone for a full name or a city name ("Paris"). Zones of other places are known only to the service.
 */
export function zoneOf(text: string): string | null {
  zones ??= new Map([
    ...Intl.supportedValuesOf('timeZone').flatMap((zone): [string, string][] => [
      [
        zone
          .slice(zone.lastIndexOf('/') + 1)
          .replaceAll('_', ' ')
          .toLowerCase(),
        zone,
      ],
      [zone.toLowerCase(), zone],
    ]),
    ['utc', 'UTC'],
    ['etc/utc', 'UTC'],
  ]);
  return zones.get(text.trim().toLowerCase()) ?? null;
}

const formats = new Map<string, Intl.DateTimeFormat>();
const offsets = new Map<string, Micros>();
const OFFSETS_MAX = 2_000;

/** Returns the UTC offset of a zone at an instant. */
export function offsetAt(zone: string, instant: Micros): Micros {
  // Offsets change only at quarter hours UTC, except under the oldest rules.
  const quarter = floorDiv(instant, HOUR / 4n);
  const key = `${zone} ${quarter}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset' });
    formats.set(zone, format);
  }
  // `Intl` exposes zone rules only for millisecond dates; only the offset is used.
  const name =
    format.formatToParts(Number(floorDiv(instant, 1_000n))).find((part) => part.type === 'timeZoneName')?.value ??
    'GMT';
  const parts = /([+-−])(\d{2}):(\d{2})(?::(\d{2}))?$/.exec(name);
  const seconds = parts ? Number(parts[2]) * 3_600 + Number(parts[3]) * 60 + Number(parts[4] ?? 0) : 0;
  const offset = BigInt(parts && parts[1] !== '+' ? -seconds : seconds) * 1_000_000n;
  if (offsets.size >= OFFSETS_MAX) offsets.clear();
  offsets.set(key, offset);
  return offset;
}

/** Returns an offset such as "UTC+1" or "UTC−3:30". */
export function offsetText(offset: Micros): string {
  const seconds = Number((offset < 0n ? -offset : offset) / 1_000_000n);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = seconds % 60;
  const tail =
    rest > 0
      ? `:${String(minutes).padStart(2, '0')}:${String(rest).padStart(2, '0')}`
      : minutes > 0
        ? `:${String(minutes).padStart(2, '0')}`
        : '';
  return offset === 0n ? 'UTC' : `UTC${offset < 0n ? '−' : '+'}${Math.floor(seconds / 3_600)}${tail}`;
}

/**
 * Resolves a place through an event query for one second: the service resolves places only in queries. A zone is
 * resolved by its city.
 */
export async function resolvePlace(timeline: string, text: string, signal?: AbortSignal): Promise<ResolvedPlace> {
  const point = coordinates(text);
  if (point) return { kind: 'near', ...point };
  const zone = zoneOf(text);
  const location = zone?.includes('/') ? zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ') : text.trim();
  const query = { timeline_id: timeline, location, time_range: '2000-01-01T00:00:00Z/PT1S', limit: 1 };
  const body = await service.monitorEvents(query, { signal });
  return body.location_resolved;
}

/** Returns the coordinates of a resolved place, or null. */
export function pointOf(resolved: ResolvedPlace | null): Point | null {
  return typeof resolved?.lat === 'number' && typeof resolved.lon === 'number'
    ? { lat: resolved.lat, lon: resolved.lon }
    : null;
}
