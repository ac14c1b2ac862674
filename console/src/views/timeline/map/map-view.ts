/** What part of the world a map shows, and where: in an Equal Earth projection that is computed once. */
import { geoEqualEarth } from 'd3-geo';
import { parseMapParts, type Box } from '../../../lib/address/ranges';

/** Wide and high of the projection with scale 1, nearly. */
const WIDE = 2 * Math.PI * 0.862;
const HIGH = WIDE * 0.4869;

export const projection = geoEqualEarth().scale(1).translate([0, 0]).precision(0.002);

export interface MapView {
  /** How often larger than the whole world. */
  zoom: number;
  /** What is in the middle, in units of the projection. */
  x: number;
  y: number;
}

export const WORLD: MapView = { zoom: 1, x: 0, y: 0 };
const ZOOM_MAX = 60;
/** A single place is shown with what is around it. */
const FIT_ZOOM_MAX = 14;

export interface Size {
  width: number;
  height: number;
}

/** Returns pixels in a unit of the projection. */
export function unit(size: Size, zoom: number): number {
  return Math.min((size.width - 16) / WIDE, (size.height - 16) / HIGH) * zoom;
}

export function bounded(view: MapView): MapView {
  const zoom = Math.min(Math.max(view.zoom, 1), ZOOM_MAX);
  const room = 1 - 1 / zoom;
  const clamp = (value: number, most: number): number => Math.min(Math.max(value, -most), most);
  return { zoom, x: clamp(view.x, (WIDE / 2) * room), y: clamp(view.y, (HIGH / 2) * room) };
}

export function zoomedAt(view: MapView, size: Size, factor: number, x: number, y: number): MapView {
  const before = unit(size, view.zoom);
  const zoom = Math.min(Math.max(view.zoom * factor, 1), ZOOM_MAX);
  const after = unit(size, zoom);
  const dx = x - size.width / 2;
  const dy = y - size.height / 2;
  return bounded({ zoom, x: view.x + dx / before - dx / after, y: view.y + dy / before - dy / after });
}

export function projected(lat: number, lon: number): [number, number] {
  return projection([lon, lat]) ?? [NaN, NaN];
}

/** Writes what is in the middle of the map, and how large it is, without digits that nobody sees. */
export function mapParam({ x, y, zoom }: MapView): string {
  const [lon, lat] = projection.invert?.([x, y]) ?? [0, 0];
  return [lat.toFixed(3), lon.toFixed(3), Number(zoom.toPrecision(3))].join(',');
}

/** Reads such a parameter; null where it is none. */
export function parseMap(text: string | null): MapView | null {
  const parts = parseMapParts(text);
  if (parts === null) return null;
  const [x, y] = projected(parts.lat, parts.lon);
  return bounded({ zoom: parts.zoom, x, y });
}

/** A place is where it is drawn, but for what is lost by calculating with fractions. */
const SAME = 1e-6;

/** Returns latitude and longitude of a pixel, or null outside of the world. */
export function located(view: MapView, size: Size, x: number, y: number): { lat: number; lon: number } | null {
  const scale = unit(size, view.zoom);
  const at = [(x - size.width / 2) / scale + view.x, (y - size.height / 2) / scale + view.y] as const;
  const [lon = NaN, lat = NaN] = projection.invert?.([...at]) ?? [];
  // Beyond the edge the longitude begins anew at the other end of the world: such a place is drawn elsewhere.
  const [backX, backY] = projected(lat, lon);
  return Math.abs(backX - at[0]) < SAME && Math.abs(backY - at[1]) < SAME ? { lat, lon } : null;
}

/** Returns the box between two corners. Off the world its edge is meant. */
export function boxOf(view: MapView, size: Size, a: { x: number; y: number }, b: { x: number; y: number }): Box | null {
  const left = Math.min(a.x, b.x);
  const right = Math.max(a.x, b.x);
  const top = Math.min(a.y, b.y);
  const bottom = Math.max(a.y, b.y);
  const middle = { x: (left + right) / 2, y: (top + bottom) / 2 };
  if (located(view, size, middle.x, middle.y) === null) return null;
  const round = (value: number): number => Math.round(value * 100) / 100;
  return {
    west: round(located(view, size, left, middle.y)?.lon ?? -180),
    east: round(located(view, size, right, middle.y)?.lon ?? 180),
    north: round(located(view, size, middle.x, top)?.lat ?? 90),
    south: round(located(view, size, middle.x, bottom)?.lat ?? -90),
  };
}

/** Returns a view that has all of a box in it; of all of the world for one across the antimeridian. */
export function fittedTo(box: Box, size: Size): MapView {
  if (box.east < box.west) return WORLD;
  const corners = [box.west, (box.west + box.east) / 2, box.east].flatMap((lon) =>
    [box.south, (box.south + box.north) / 2, box.north].map((lat) => projected(lat, lon)),
  );
  const ends = (values: number[]): [number, number] => [Math.min(...values), Math.max(...values)];
  const [left, right] = ends(corners.map(([x]) => x));
  const [top, bottom] = ends(corners.map(([, y]) => y));
  const world = unit(size, 1);
  const room = 0.86;
  const zoom = Math.min(
    (size.width * room) / (Math.max(right - left, 0.02) * world),
    (size.height * room) / (Math.max(bottom - top, 0.02) * world),
    FIT_ZOOM_MAX,
  );
  return bounded({ zoom, x: (left + right) / 2, y: (top + bottom) / 2 });
}

/** Whether a view shows things at least somewhat larger, or elsewhere on the screen. */
export function isElsewhere(from: MapView, to: MapView, size: Size): boolean {
  const scale = unit(size, from.zoom);
  const moved = Math.max(Math.abs(to.x - from.x) / size.width, Math.abs(to.y - from.y) / size.height) * scale;
  return to.zoom > from.zoom * 1.2 || moved > 0.1;
}

/** So many rows are looked at to see how far around the world a view reaches: it is widest at the equator. */
const ROWS = 9;
const POLE_Y = Math.abs(projected(90, 0)[1]);

/** Returns the box around all that is in sight; null where that is most of the world. */
export function boxInSight(view: MapView, size: Size): Box | null {
  if (view.zoom < 1.5) return null;
  const scale = unit(size, view.zoom);
  const [wide, high] = [size.width / 2 / scale, size.height / 2 / scale];
  const [top, bottom] = [Math.max(view.y - high, -POLE_Y), Math.min(view.y + high, POLE_Y)];
  const latAt = (y: number): number => projection.invert?.([0, y])?.[1] ?? NaN;
  const rows = Array.from({ length: ROWS }, (_, row) => latAt(top + ((bottom - top) * row) / (ROWS - 1)));
  // Degrees of a row are equally wide, and where it ends within sight, so does the world.
  const lonsAt = (x: number): number[] =>
    rows.map((lat) => Math.max(-180, Math.min(180, (x / projected(lat, 180)[0]) * 180)));
  return {
    west: Math.floor(Math.min(...lonsAt(view.x - wide))),
    east: Math.ceil(Math.max(...lonsAt(view.x + wide))),
    south: Math.max(-90, Math.floor(latAt(bottom))),
    north: Math.min(90, Math.ceil(latAt(top))),
  };
}

/** Returns how many degrees so many pixels are, in the middle of the map. */
export function degreesOf(view: MapView, size: Size, pixels: number): number {
  return (pixels * 360) / (unit(size, view.zoom) * WIDE);
}
