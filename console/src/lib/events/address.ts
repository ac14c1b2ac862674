/** URL parameters of the visible range. */
import { format, parse, type Micros } from '../time/instant';
import type { Scale } from '../chart/scale';
import type { Box } from '../address/ranges';

/** Returns center and zoom, rounded to visible precision. */
export function viewParams(view: Scale): { center: string; zoom: string } {
  // Precision below one pixel is invisible.
  const grain = BigInt(Math.max(1, Math.floor(view.pixel)));
  const center = view.center - (((view.center % grain) + grain) % grain);
  return { center: format(center), zoom: Number(view.pixel.toPrecision(4)).toString() };
}

export function parseView(center: string | null, zoom: string | null): { center: Micros; pixel: number } | null {
  const time = parse(center ?? '');
  const pixel = Number(zoom ?? NaN);
  return time === null || !(pixel > 0) ? null : { center: time, pixel };
}

/** Above this number, events are counted instead of drawn individually. */
const SINGLES_MAX = 1_000;

/** Reads a lower limit for individually drawn events from the URL, for slow machines. */
export function singlesMax(text: string | null): number {
  const most = Number(text ?? NaN);
  return Number.isInteger(most) && most > 0 ? Math.min(most, SINGLES_MAX) : SINGLES_MAX;
}

export function boxText(box: Box): string {
  const side = (value: number, plus: string, minus: string): string =>
    `${Math.abs(value).toFixed(0)}° ${value < 0 ? minus : plus}`;
  const lat = `${side(box.south, 'N', 'S')} to ${side(box.north, 'N', 'S')}`;
  const lon = `${side(box.west, 'E', 'W')} to ${side(box.east, 'E', 'W')}`;
  return `${lat}, ${lon}`;
}
