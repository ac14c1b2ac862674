/** View of the map in an Equal Earth projection, and conversions between pixels and coordinates. */
import { geoEqualEarth } from 'd3-geo';
import { parseMapParts, type Box } from '../../../lib/address/ranges';

/** Approximate width and height of the projection at scale 1. */
const WIDE = 2 * Math.PI * 0.862;
const HIGH = WIDE * 0.4869;

export const projection = geoEqualEarth().scale(1).translate([0, 0]).precision(0.002);

export interface MapView {
  /** Magnification relative to the whole world. */
  zoom: number;
  /** Center of the view, in units of the projection. */
  x: number;
  y: number;
}

export const WORLD: MapView = { zoom: 1, x: 0, y: 0 };
const ZOOM_MAX = 60;
/** Maximum zoom when fitting, so that a single place is shown with its surroundings. */
const FIT_ZOOM_MAX = 14;

export interface Size {
  width: number;
  height: number;
}

/** Returns the pixels per unit of the projection. */
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

/** Formats the center and zoom of the map as a parameter with limited precision. */
export function mapParam({ x, y, zoom }: MapView): string {
  const [lon, lat] = projection.invert?.([x, y]) ?? [0, 0];
  return [lat.toFixed(3), lon.toFixed(3), Number(zoom.toPrecision(3))].join(',');
}

/** Parses such a parameter; null if it is invalid. */
export function parseMap(text: string | null): MapView | null {
  const parts = parseMapParts(text);
  if (parts === null) return null;
  const [x, y] = projected(parts.lat, parts.lon);
  return bounded({ zoom: parts.zoom, x, y });
}

/** Tolerance for rounding errors of the projection. */
const SAME = 1e-6;

/** Returns the coordinates at a pixel, or null outside the world. */
export function located(view: MapView, size: Size, x: number, y: number): { lat: number; lon: number } | null {
  const scale = unit(size, view.zoom);
  const at = [(x - size.width / 2) / scale + view.x, (y - size.height / 2) / scale + view.y] as const;
  const [lon = NaN, lat = NaN] = projection.invert?.([...at]) ?? [];
  // Beyond the edge, the inverse projection wraps around to the opposite side, which projects to a different pixel.
  const [backX, backY] = projected(lat, lon);
  return Math.abs(backX - at[0]) < SAME && Math.abs(backY - at[1]) < SAME ? { lat, lon } : null;
}

/** Returns the box between two corners. Sides outside the world are clipped to its edge. */
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

/** Returns a view that contains a box; the whole world for a box across the antimeridian. */
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

/** Whether `to` is noticeably larger than `from`, or moved. */
export function isElsewhere(from: MapView, to: MapView, size: Size): boolean {
  const scale = unit(size, from.zoom);
  const moved = Math.max(Math.abs(to.x - from.x) / size.width, Math.abs(to.y - from.y) / size.height) * scale;
  return to.zoom > from.zoom * 1.2 || moved > 0.1;
}

/** Number of sampled rows: the longitudes in view vary with the latitude and are widest at the equator. */
const ROWS = 9;
const POLE_Y = Math.abs(projected(90, 0)[1]);

/** Returns the bounding box of the visible area; null if it is most of the world. */
export function visibleBox(view: MapView, size: Size): Box | null {
  if (view.zoom < 1.5) return null;
  const scale = unit(size, view.zoom);
  const [wide, high] = [size.width / 2 / scale, size.height / 2 / scale];
  const [top, bottom] = [Math.max(view.y - high, -POLE_Y), Math.min(view.y + high, POLE_Y)];
  const latAt = (y: number): number => projection.invert?.([0, y])?.[1] ?? NaN;
  const rows = Array.from({ length: ROWS }, (_, row) => latAt(top + ((bottom - top) * row) / (ROWS - 1)));
  // Degrees within a row have equal width. If a row ends in view, clamp to the edge of the world.
  const lonsAt = (x: number): number[] =>
    rows.map((lat) => Math.max(-180, Math.min(180, (x / projected(lat, 180)[0]) * 180)));
  return {
    west: Math.floor(Math.min(...lonsAt(view.x - wide))),
    east: Math.ceil(Math.max(...lonsAt(view.x + wide))),
    south: Math.max(-90, Math.floor(latAt(bottom))),
    north: Math.min(90, Math.ceil(latAt(top))),
  };
}

/** Returns the degrees per number of pixels at the center of the map. */
export function degreesOf(view: MapView, size: Size, pixels: number): number {
  return (pixels * 360) / (unit(size, view.zoom) * WIDE);
}
