/** What of the view is in the address. */
import { format, parse, type Micros } from '../time/instant';
import type { Scale } from '../chart/scale';
import type { Box } from '../address/ranges';

/** Writes the middle and the zoom, without digits that nobody sees. */
export function viewParams(view: Scale): { center: string; zoom: string } {
  // A pixel is enough: what is smaller is not seen.
  const grain = BigInt(Math.max(1, Math.floor(view.pixel)));
  const center = view.center - (((view.center % grain) + grain) % grain);
  return { center: format(center), zoom: Number(view.pixel.toPrecision(4)).toString() };
}

export function parseView(center: string | null, zoom: string | null): { center: Micros; pixel: number } | null {
  const time = parse(center ?? '');
  const pixel = Number(zoom ?? NaN);
  return time === null || !(pixel > 0) ? null : { center: time, pixel };
}

/** So many events are drawn one by one; more are counted. */
const SINGLES_MAX = 1_000;

/** Reads how many events are drawn one by one, where an address says it: for machines that are slow. */
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
