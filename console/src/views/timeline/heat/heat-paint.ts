/** Draws the heat layer of the map, and the scale of its legend, in the same colors. */
import '../groups/ramp.css';
import type { MapScene } from '../map/map-scene';
import { located, unit } from '../map/map-view';
import { shareOf, smoothAt, valueAt, type Grid, type HeatScale } from './heat';

type Color = readonly [number, number, number];

const RAMP_COLORS = 8;
/** So many points are computed at most; what is between them is smooth. */
const POINTS_MAX = 40_000;
/** How much of the color there is. With less the lowest would be nearly that of the ground; coasts go over it. */
export const OPACITY = 0.9;
const OPAQUE = 255;

/** Reads the colors of the ramp as the theme has them, from the lowest to the highest. */
export function readRamp(host: HTMLElement): Color[] {
  const probe = document.createElement('span');
  probe.hidden = true;
  probe.style.setProperty('forced-color-adjust', 'none');
  host.append(probe);
  const colors = Array.from({ length: RAMP_COLORS }, (_, index): Color => {
    probe.style.setProperty('color', `var(--ramp-${index + 1})`);
    const [red = 0, green = 0, blue = 0] =
      getComputedStyle(probe)
        .color.match(/[\d.]+/g)
        ?.map(Number) ?? [];
    return [red, green, blue];
  });
  probe.remove();
  return colors;
}

/** Returns red, green, blue and alpha of a share of the scale, from 0 to 255. */
function colorOf(ramp: readonly Color[], share: number): [number, number, number, number] {
  const at = share * (ramp.length - 1);
  const below = ramp[Math.floor(at)] ?? [0, 0, 0];
  const above = ramp[Math.ceil(at)] ?? below;
  const part = at - Math.floor(at);
  const mixed = (index: 0 | 1 | 2): number => below[index] + (above[index] - below[index]) * part;
  return [mixed(0), mixed(1), mixed(2), OPACITY * OPAQUE];
}

export interface HeatScene {
  grid: Grid;
  scale: HeatScale;
  ramp: readonly Color[];
  /** Whether values pass into each other: a number of one cell says nothing of the next. */
  isSmooth: boolean;
}

/** Returns the layer as a picture that is as large as the map, or smaller by a factor. */
export function heatPicture(
  { view, size }: Pick<MapScene, 'view' | 'size'>,
  { grid, scale, ramp, isSmooth }: HeatScene,
): HTMLCanvasElement {
  const each = Math.max(isSmooth ? 2 : 1, Math.sqrt((size.width * size.height) / POINTS_MAX));
  const sheet = document.createElement('canvas');
  [sheet.width, sheet.height] = [Math.ceil(size.width / each), Math.ceil(size.height / each)];
  const picture = new ImageData(sheet.width, sheet.height);
  const pointAt = (lat: number, lon: number): ReturnType<typeof smoothAt> => {
    // What is less than the scale begins with passes into nothing: a cell ends nowhere.
    if (isSmooth) return smoothAt(grid, scale, lat, lon);
    const value = valueAt(grid, lat, lon, false);
    return value === null ? null : { share: shareOf(scale, value), part: 1 };
  };
  const scaled = unit(size, view.zoom);
  const middle = { x: size.width / 2 - view.x * scaled, y: size.height / 2 - view.y * scaled };
  const inward = (from: number, to: number): number => from + Math.sign(to - from) * each;
  /** Where a point is. One just beyond the edge of the world has the color of what is inside: the edge has no teeth. */
  const placed = (x: number, y: number): ReturnType<typeof located> =>
    located(view, size, x, y) ??
    located(view, size, inward(x, middle.x), y) ??
    located(view, size, x, inward(y, middle.y));
  for (let y = 0; y < sheet.height; y += 1)
    for (let x = 0; x < sheet.width; x += 1) {
      const place = placed((x + 0.5) * each, (y + 0.5) * each);
      const found = place === null ? null : pointAt(place.lat, place.lon);
      if (found === null) continue;
      const [red, green, blue, alpha] = colorOf(ramp, found.share);
      picture.data.set([red, green, blue, alpha * found.part], (y * sheet.width + x) * 4);
    }
  sheet.getContext('2d')?.putImageData(picture, 0, 0);
  return sheet;
}

/** Draws the colors of a scale from left to right. */
export function paintScale(canvas: HTMLCanvasElement, ramp: readonly Color[], ground: string): void {
  const context = canvas.getContext('2d');
  if (context === null) return;
  const { width, height } = canvas;
  context.fillStyle = ground;
  context.fillRect(0, 0, width, height);
  for (let x = 0; x < width; x += 1) {
    const [red, green, blue, alpha] = colorOf(ramp, (x + 0.5) / width);
    context.fillStyle = `rgb(${red} ${green} ${blue} / ${alpha / OPAQUE})`;
    context.fillRect(x, 0, 1, height);
  }
}
