/** Stretches of time and boxes on the map, as addresses write them. */
import { parse, type Micros } from './instant';

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
