/** Draws the heat layer and the color scale of its legend. */
import '../groups/ramp.css';
import type { MapScene } from '../map/map-scene';
import { located, unit } from '../map/map-view';
import { shareOf, interpolatedAt, valueAt, type Grid, type HeatScale } from './heat';

type Color = readonly [number, number, number];

const RAMP_COLORS = 8;
/** Maximum number of computed points; the browser interpolates between them. */
const POINTS_MAX = 40_000;
/**
 * Opacity of the layer. If it were lower, the lowest color would be too close to the background. Coasts are drawn above
 * the layer.
 */
export const OPACITY = 0.9;
const OPAQUE = 255;

/** Reads the ramp colors of the current theme, from the lowest to the highest. */
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

/** Returns the red, green, blue and alpha values (0 to 255) for a share of the scale. */
function colorOf(ramp: readonly Color[], share: number): [number, number, number, number] {
  const at = share * (ramp.length - 1);
  const below = ramp[Math.floor(at)] ?? [0, 0, 0];
  const above = ramp[Math.ceil(at)] ?? below;
  const part = at - Math.floor(at);
  const mixed = (index: 0 | 1 | 2): number => below[index] + (above[index] - below[index]) * part;
  return [mixed(0), mixed(1), mixed(2), OPACITY * OPAQUE];
}

interface HeatScene {
  grid: Grid;
  scale: HeatScale;
  ramp: readonly Color[];
  /** Whether to interpolate between cells; values of one cell do not apply to the next. */
  isSmooth: boolean;
}

/** Draws the layer at the size of the map, or scaled down to limit the number of points. */
export function heatPicture(
  { view, size }: Pick<MapScene, 'view' | 'size'>,
  { grid, scale, ramp, isSmooth }: HeatScene,
): HTMLCanvasElement {
  const each = Math.max(isSmooth ? 2 : 1, Math.sqrt((size.width * size.height) / POINTS_MAX));
  const sheet = document.createElement('canvas');
  [sheet.width, sheet.height] = [Math.ceil(size.width / each), Math.ceil(size.height / each)];
  const picture = new ImageData(sheet.width, sheet.height);
  const pointAt = (lat: number, lon: number): ReturnType<typeof interpolatedAt> => {
    // Below the low end of the scale, the color fades out, so that cells have no visible edges.
    if (isSmooth) return interpolatedAt(grid, scale, lat, lon);
    const value = valueAt(grid, lat, lon);
    return value === null ? null : { share: shareOf(scale, value), part: 1 };
  };
  const scaled = unit(size, view.zoom);
  const middle = { x: size.width / 2 - view.x * scaled, y: size.height / 2 - view.y * scaled };
  const inward = (from: number, to: number): number => from + Math.sign(to - from) * each;
  /**
   * Locates a point. A point just beyond the edge of the world gets the color inside it, so that the edge is not
   * jagged.
   */
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
