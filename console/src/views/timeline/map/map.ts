/** Paints the map. The land is projected once; zooming and panning only transform it. */
import { World } from '../../../lib/places/world';
import { ungrouped, type Palette } from '../../../lib/chart/palette';
import { cellColor, type CellGroups } from '../cells/cell-groups';
import { classOf, type Cells } from '../cells/cells';
import { merged, type Dot } from '../../../lib/chart/overlapping';
import type { Box } from '../../../lib/address/ranges';
import type { MapScene } from './map-scene';
import { located, projected, projection, unit, type MapView, type Size } from './map-view';
import { mixed, shadeOf } from '../cells/shades';
import { paintEnd } from './tracks';

// At scale 1, path coordinates are only a few units: keep enough decimal places.
const world = new World(projection, 6);
const LAND = new Path2D(world.land());
const BORDERS = new Path2D(world.borders());
const SPHERE = new Path2D(world.sphere());
const GRATICULE = new Path2D(world.graticule());

/** Returns the outline of the world on the screen. */
export function outline(view: MapView, size: Size): Path2D {
  const scale = unit(size, view.zoom);
  const [left, top] = [size.width / 2 - view.x * scale, size.height / 2 - view.y * scale];
  const path = new Path2D();
  path.addPath(SPHERE, new DOMMatrix([scale, 0, 0, scale, left, top]));
  return path;
}

/**
 * Cached background layers: the land below the events, and the coasts above cells. They only change when the map moves.
 */
export class Backdrop {
  readonly land = document.createElement('canvas');
  readonly coasts = document.createElement('canvas');
  #key = '';

  /** Redraws both layers if the canvas, the view or the colors have changed. */
  renew(like: HTMLCanvasElement, ratio: number, palette: Palette, seen: Pick<MapScene, 'view' | 'size'>): void {
    const key = JSON.stringify([like.width, like.height, seen, palette.line, palette.sunken, ratio]);
    if (key === this.#key) return;
    this.#key = key;
    for (const [canvas, paint] of [
      [this.land, paintWorld],
      [this.coasts, paintCoasts],
    ] as const) {
      [canvas.width, canvas.height] = [like.width, like.height];
      const context = canvas.getContext('2d')!;
      const { view, size } = seen;
      const scale = unit(size, view.zoom);
      const [left, top] = [size.width / 2 - view.x * scale, size.height / 2 - view.y * scale];
      context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * left, ratio * top);
      paint(context, palette, scale);
    }
  }
}

/** Draws thin coastlines that do not affect the color of cells. */
function paintCoasts(context: CanvasRenderingContext2D, palette: Palette, scale: number): void {
  context.globalAlpha = 0.3;
  context.lineWidth = 0.7 / scale;
  context.strokeStyle = palette.ink;
  context.stroke(LAND);
  context.globalAlpha = 1;
}

function paintWorld(context: CanvasRenderingContext2D, palette: Palette, scale: number): void {
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
}

/** Draws cells in shades by count, in the color of their most frequent group if known, with `coasts` above them. */
export function paintCells(
  context: CanvasRenderingContext2D,
  palette: Palette,
  scene: MapScene,
  { cells, classes }: Cells,
  groups: CellGroups | null,
  coasts: HTMLCanvasElement,
): void {
  const { view, size, box } = scene;
  const scale = unit(size, view.zoom);
  const at = (lat: number, lon: number): [number, number] => {
    const [x, y] = projected(lat, lon);
    return [(x - view.x) * scale + size.width / 2, (y - view.y) * scale + size.height / 2];
  };
  for (const cell of cells) {
    const corners = [
      at(cell.north, cell.west),
      at(cell.north, cell.east),
      at(cell.south, cell.east),
      at(cell.south, cell.west),
    ];
    if (corners.every(([x]) => x < 0 || x > size.width) || corners.every(([, y]) => y < 0 || y > size.height)) continue;
    // Opaque, so that a class has one color over land and sea.
    const color = cellColor(palette, cell, groups, scene.isColored);
    context.fillStyle = mixed(color, palette.sunken, shadeOf(classOf(cell.count, classes), classes.length));
    context.beginPath();
    for (const [x, y] of corners) context.lineTo(x, y);
    context.fill();
  }
  context.drawImage(coasts, 0, 0, size.width, size.height);
  if (box !== null) paintBox(context, palette, scene, box);
  paintSelected(context, palette, scene);
}

/** Returns the cell at a pixel, or null. */
export function pickCell({ view, size }: Pick<MapScene, 'view' | 'size'>, { cells }: Cells, x: number, y: number) {
  const place = located(view, size, x, y);
  if (place === null) return null;
  const { lat, lon } = place;
  const isIn = (cell: Box): boolean => lat >= cell.south && lat < cell.north && lon >= cell.west && lon < cell.east;
  return cells.find(isIn) ?? null;
}

/**
 * Draws the events. Overlapping events merge into one dot that grows with their number. Returns the number of placed
 * events, and the dots.
 */
export function paintPlaces(
  context: CanvasRenderingContext2D,
  palette: Palette,
  scene: MapScene,
): { placed: number; dots: Dot[] } {
  const { size, places, view, box } = scene;
  const scale = unit(size, view.zoom);
  const left = size.width / 2 - view.x * scale;
  const top = size.height / 2 - view.y * scale;
  const marks: { x: number; y: number; row: number; color: string }[] = [];
  let placed = 0;
  if (scene.isTrack) paintTrack(context, palette, scene);
  for (let row = scene.first; row < scene.last; row += 1) {
    const x = places.xs[row]! * scale + left;
    const y = places.ys[row]! * scale + top;
    if (Number.isNaN(x)) continue;
    placed += 1;
    if (!(x >= 0 && x < size.width && y >= 0 && y < size.height)) continue;
    marks.push({ x, y, row, color: scene.colors?.(row) ?? ungrouped(palette, scene.isColored) });
  }
  const dots = merged(marks);
  context.strokeStyle = palette.surface;
  context.lineWidth = 1;
  for (const { x, y, rows, color } of dots) {
    context.fillStyle = color;
    context.beginPath();
    context.arc(x, y, Math.min(9, 2.6 + Math.log2(rows.length) * 0.7), 0, 7);
    context.fill();
    context.stroke();
  }
  if (box !== null) paintBox(context, palette, scene, box);
  paintSelected(context, palette, scene);
  return { placed, dots };
}

/** Connects the events in time order. Omits lines that would go around the world. */
function paintTrack(context: CanvasRenderingContext2D, palette: Palette, scene: MapScene): void {
  const { size, places, view } = scene;
  const scale = unit(size, view.zoom);
  context.strokeStyle = palette.ink;
  context.globalAlpha = 0.55;
  context.lineWidth = 1.6;
  context.lineJoin = 'round';
  context.fillStyle = palette.ink;
  context.beginPath();
  let before = NaN;
  let segment: { x: number; y: number }[] = [];
  for (let row = scene.first; row < scene.last; row += 1) {
    const lon = places.store.lons[row]!;
    if (Number.isNaN(lon)) continue;
    const x = (places.xs[row]! - view.x) * scale + size.width / 2;
    const y = (places.ys[row]! - view.y) * scale + size.height / 2;
    const isOn = Math.abs(lon - before) <= 180;
    context[isOn ? 'lineTo' : 'moveTo'](x, y);
    if (!isOn) segment = [];
    segment.push({ x, y });
    before = lon;
  }
  context.stroke();
  paintEnd(context, segment);
  context.globalAlpha = 1;
}

/** Two opposite corners of the selected area. */
export interface Brush {
  from: { x: number; y: number };
  to: { x: number; y: number };
}

/** Draws the area during selection. */
export function paintBrush(context: CanvasRenderingContext2D, palette: Palette, { from, to }: Brush): void {
  context.strokeStyle = palette.accent;
  context.lineWidth = 1.5;
  context.strokeRect(from.x, from.y, to.x - from.x, to.y - from.y);
}

function paintBox(
  context: CanvasRenderingContext2D,
  palette: Palette,
  scene: Pick<MapScene, 'view' | 'size'>,
  box: Box,
): void {
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
  { view, size, places, selectedAt, linked }: MapScene,
): void {
  if (selectedAt === null) return;
  const scale = unit(size, view.zoom);
  const [left, top] = [size.width / 2 - view.x * scale, size.height / 2 - view.y * scale];
  const [atX, atY] = projected(selectedAt.lat, selectedAt.lon);
  const [x, y] = [atX * scale + left, atY * scale + top];
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
  // As on the axis, not in the `now` color, which is reserved for the clock.
  context.fillStyle = palette.ink;
  context.strokeStyle = palette.surface;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x, y, 6, 0, 7);
  context.fill();
  context.stroke();
  context.strokeStyle = palette.ink;
  context.beginPath();
  context.arc(x, y, 11, 0, 7);
  context.stroke();
}
