/** Time ranges and map boxes in URL parameters. */
import { parse, type Micros } from '../time/instant';

export interface Box {
  west: number;
  south: number;
  east: number;
  north: number;
}

export function parseRange(text: string | null): { from: Micros; to: Micros } | null {
  const [a, b] = (text ?? '').split('/');
  const from = parse(a ?? '');
  const to = parse(b ?? '');
  return from === null || to === null || to <= from ? null : { from, to };
}

export function parseBox(text: string | null): Box | null {
  const [west, south, east, north, ...rest] = (text ?? '')
    .split(',')
    .map((part) => (part.trim() === '' ? NaN : Number(part)));
  const isDegrees = (value: number | undefined, most: number): value is number =>
    value !== undefined && Math.abs(value) <= most;
  if (
    rest.length > 0 ||
    !isDegrees(west, 180) ||
    !isDegrees(east, 180) ||
    !isDegrees(south, 90) ||
    !isDegrees(north, 90) ||
    south > north
  )
    return null;
  return { west, south, east, north };
}

/** Whether a point is inside a box. A box may cross the antimeridian. */
export function isWithin(box: Box, { lat, lon }: { lat: number; lon: number }): boolean {
  if (lat < box.south || lat > box.north) return false;
  return box.west <= box.east ? box.west <= lon && lon <= box.east : lon >= box.west || lon <= box.east;
}

export function boxParam(box: Box): string {
  return [box.west, box.south, box.east, box.north].join(',');
}

/** Reads a map center and zoom factor, such as `29.95,-90.07,4`. Zoom 1 shows the whole world. */
export function parseMapParts(text: string | null): { lat: number; lon: number; zoom: number } | null {
  const [lat, lon, zoom, ...rest] = (text ?? '').split(',').map((part) => (part.trim() === '' ? NaN : Number(part)));
  if (lat === undefined || lon === undefined || zoom === undefined || rest.length > 0) return null;
  return Math.abs(lat) <= 90 && Math.abs(lon) <= 180 && zoom >= 1 ? { lat, lon, zoom } : null;
}
