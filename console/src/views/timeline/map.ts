/** The world on a canvas: an Equal Earth projection that is computed once; a zoom only stretches and shifts it. */
import { geoEqualEarth } from 'd3-geo';
import { World } from '../../lib/world';
import type { Palette } from './palette';
import { isInBox, type EventStore } from './store';
import type { Box } from '../../lib/ranges';

/** Wide and high of the projection with scale 1, nearly. */
const WIDE = 2 * Math.PI * 0.862;
const HIGH = WIDE * 0.4869;

const projection = geoEqualEarth().scale(1).translate([0, 0]).precision(0.002);
// At scale 1 a path has coordinates of a few units: it is written with enough digits.
const world = new World(projection, 6);
const LAND = new Path2D(world.land());
const BORDERS = new Path2D(world.borders());
const SPHERE = new Path2D(world.sphere());
const GRATICULE = new Path2D(world.graticule());

export interface MapView {
  /** How often larger than the whole world. */
  zoom: number;
  /** What is in the middle, in units of the projection. */
  x: number;
  y: number;
}

export const WORLD: MapView = { zoom: 1, x: 0, y: 0 };
const ZOOM_MAX = 60;

interface Size {
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

function projected(lat: number, lon: number): [number, number] {
  return projection([lon, lat]) ?? [NaN, NaN];
}

/** Returns latitude and longitude of a pixel, or null outside of the world. */
function located(view: MapView, size: Size, x: number, y: number): { lat: number; lon: number } | null {
  const scale = unit(size, view.zoom);
  const found = projection.invert?.([(x - size.width / 2) / scale + view.x, (y - size.height / 2) / scale + view.y]);
  if (!found || !(Math.abs(found[0]) <= 180) || !(Math.abs(found[1]) <= 90)) return null;
  return { lon: found[0], lat: found[1] };
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

/** Where the events of a store are, in units of the projection. */
export class Places {
  readonly xs: Float32Array;
  readonly ys: Float32Array;

  constructor(readonly store: EventStore) {
    this.xs = new Float32Array(store.count).fill(NaN);
    this.ys = new Float32Array(store.count).fill(NaN);
    for (let row = 0; row < store.count; row += 1) {
      if (Number.isNaN(store.lats[row]!)) continue;
      const [x, y] = projected(store.lats[row]!, store.lons[row]!);
      this.xs[row] = x;
      this.ys[row] = y;
    }
  }
}

export interface MapScene {
  view: MapView;
  size: Size;
  places: Places;
  /** The rows in the time that is looked at: `[first, last)`. */
  first: number;
  last: number;
  box: Box | null;
  selected: number;
  /** Places of what the selected one hangs on and what depends on it. */
  linked: number[];
}

export function paintWorld(
  context: CanvasRenderingContext2D,
  ratio: number,
  palette: Palette,
  { view, size }: Pick<MapScene, 'view' | 'size'>,
): void {
  const scale = unit(size, view.zoom);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, size.width, size.height);
  context.setTransform(
    ratio * scale,
    0,
    0,
    ratio * scale,
    ratio * (size.width / 2 - view.x * scale),
    ratio * (size.height / 2 - view.y * scale),
  );
  context.fillStyle = palette.sunken;
  context.fill(SPHERE);
  context.lineWidth = 0.5 / scale;
  context.strokeStyle = palette.line;
  context.stroke(GRATICULE);
  context.fillStyle = palette.land;
  context.fill(LAND);
  context.lineWidth = 0.7 / scale;
  context.strokeStyle = palette.coast;
  context.stroke(LAND);
  context.strokeStyle = palette['line-strong'];
  context.stroke(BORDERS);
  context.stroke(SPHERE);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
}

/** Places that fall into a square of so many pixels are one dot in their middle, the larger the more there are. */
const CELL = 5;
/** With more dots than these they become squares of a density. */
const DISCS_MAX = 900;

/** Per square how many there are, and the sums of where they are. */
interface Cells {
  counts: Uint32Array;
  xs: Float64Array;
  ys: Float64Array;
}
const cells = (many: number): Cells => ({
  counts: new Uint32Array(many),
  xs: new Float64Array(many),
  ys: new Float64Array(many),
});

export function paintPlaces(context: CanvasRenderingContext2D, palette: Palette, scene: MapScene): number {
  const { size, places, view, box } = scene;
  const scale = unit(size, view.zoom);
  const left = size.width / 2 - view.x * scale;
  const top = size.height / 2 - view.y * scale;
  const columns = Math.ceil(size.width / CELL);
  const lines = Math.ceil(size.height / CELL);
  const inside = cells(columns * lines);
  const outside = cells(box === null ? 0 : columns * lines);
  let placed = 0;
  for (let row = scene.first; row < scene.last; row += 1) {
    const x = places.xs[row]! * scale + left;
    const y = places.ys[row]! * scale + top;
    if (Number.isNaN(x)) continue;
    placed += 1;
    if (!(x >= 0 && x < size.width && y >= 0 && y < size.height)) continue;
    const cell = Math.floor(y / CELL) * columns + Math.floor(x / CELL);
    const taken = box === null || isInBox(box, places.store.lats[row]!, places.store.lons[row]!) ? inside : outside;
    taken.counts[cell]! += 1;
    taken.xs[cell]! += x;
    taken.ys[cell]! += y;
  }
  const most = Math.log1p(inside.counts.reduce((a, b) => Math.max(a, b), 1));
  // With dots everywhere a picture of their density tells more, and ten thousand squares are drawn faster than discs.
  const isDense = inside.counts.reduce((used, count) => used + (count > 0 ? 1 : 0), 0) > DISCS_MAX;
  const draw = ({ counts, xs, ys }: Cells, color: string, alpha: number): void => {
    context.fillStyle = color;
    counts.forEach((count, cell) => {
      if (count === 0) return;
      const share = Math.min(1, Math.log1p(count) / most);
      context.globalAlpha = alpha * (isDense ? 0.12 + 0.88 * share * share : 0.45 + 0.55 * share);
      if (isDense) {
        context.fillRect((cell % columns) * CELL, Math.floor(cell / columns) * CELL, CELL - 0.5, CELL - 0.5);
        return;
      }
      context.beginPath();
      context.arc(xs[cell]! / count, ys[cell]! / count, 2 + 2.2 * share, 0, 7);
      context.fill();
    });
  };
  draw(outside, palette.faint, 0.6);
  draw(inside, palette.accent, 1);
  context.globalAlpha = 1;
  if (box !== null) paintBox(context, palette, scene, box);
  paintSelected(context, palette, scene, scale, left, top);
  return placed;
}

function paintBox(context: CanvasRenderingContext2D, palette: Palette, scene: MapScene, box: Box): void {
  const scale = unit(scene.size, scene.view.zoom);
  const east = box.east < box.west ? box.east + 360 : box.east;
  const steps = 24;
  context.beginPath();
  const to = (lon: number, lat: number, isFirst: boolean): void => {
    const [x, y] = projected(lat, lon > 180 ? lon - 360 : lon);
    const px = (x - scene.view.x) * scale + scene.size.width / 2;
    const py = (y - scene.view.y) * scale + scene.size.height / 2;
    if (isFirst) context.moveTo(px, py);
    else context.lineTo(px, py);
  };
  for (let step = 0; step <= steps; step += 1) to(box.west + ((east - box.west) * step) / steps, box.north, step === 0);
  for (let step = 0; step <= steps; step += 1) to(east, box.north + ((box.south - box.north) * step) / steps, false);
  for (let step = 0; step <= steps; step += 1) to(east + ((box.west - east) * step) / steps, box.south, false);
  context.closePath();
  context.strokeStyle = palette.accent;
  context.lineWidth = 1.5;
  context.stroke();
  context.fillStyle = palette.accent;
  context.globalAlpha = 0.07;
  context.fill();
  context.globalAlpha = 1;
}

function paintSelected(
  context: CanvasRenderingContext2D,
  palette: Palette,
  { places, selected, linked }: MapScene,
  scale: number,
  left: number,
  top: number,
): void {
  if (selected < 0 || Number.isNaN(places.xs[selected]!)) return;
  const x = places.xs[selected]! * scale + left;
  const y = places.ys[selected]! * scale + top;
  context.strokeStyle = palette.muted;
  context.lineWidth = 1.2;
  context.setLineDash([3, 3]);
  for (const row of linked) {
    if (Number.isNaN(places.xs[row]!)) continue;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(places.xs[row]! * scale + left, places.ys[row]! * scale + top);
    context.stroke();
  }
  context.setLineDash([]);
  context.fillStyle = palette.now;
  context.strokeStyle = palette.surface;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x, y, 6, 0, 7);
  context.fill();
  context.stroke();
  context.strokeStyle = palette.now;
  context.beginPath();
  context.arc(x, y, 11, 0, 7);
  context.stroke();
}

/** Returns the event nearest to a pixel among those looked at, or −1. */
export function pickPlace(scene: MapScene, x: number, y: number): number {
  const scale = unit(scene.size, scene.view.zoom);
  let best = -1;
  let nearest = 12 * 12;
  for (let row = scene.first; row < scene.last; row += 1) {
    const dx = (scene.places.xs[row]! - scene.view.x) * scale + scene.size.width / 2 - x;
    const dy = (scene.places.ys[row]! - scene.view.y) * scale + scene.size.height / 2 - y;
    const distance = dx * dx + dy * dy;
    if (distance < nearest) {
      nearest = distance;
      best = row;
    }
  }
  return best;
}
