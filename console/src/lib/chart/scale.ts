/**
 * The visible time range: its center and the duration of one pixel.
 *
 * Microseconds since 1970 exceed the exact range of a number. The center is therefore a bigint (plus a fraction of a
 * microsecond, for the deepest zoom), and everything is drawn relative to it.
 */
import { SECOND, floorDiv, type Micros } from '../time/instant';

/** The calendar range of the API: −9999-01-01 to 9999-12-31. */
export const FIRST: Micros = -377_705_116_800_000_000n;
export const LAST: Micros = 253_402_300_799_999_999n;

/** Time beyond the calendar that may be visible. */
const EDGE = (LAST - FIRST) / 20n;

/** At maximum zoom, a microsecond is 40 pixels wide. */
const PIXEL_MIN = 1 / 40;

export interface Scale {
  /** The instant at the center. */
  readonly center: Micros;
  /** Fraction of a microsecond to add to `center`, from 0 to less than 1. */
  readonly fraction: number;
  /** Microseconds per pixel. */
  readonly pixel: number;
  /** Width of the axis in pixels. */
  readonly width: number;
}

/** An instant as two exact numbers: whole seconds, and microseconds within the second. */
interface Parts {
  seconds: number;
  micros: number;
}

export function split(instant: Micros): Parts {
  const seconds = floorDiv(instant, SECOND);
  return { seconds: Number(seconds), micros: Number(instant - seconds * SECOND) };
}

/** Returns the longest duration of a pixel, at which the calendar still fills the axis. */
function pixelMax(width: number): number {
  return (Number(LAST - FIRST) / Math.max(width, 1)) * 1.05;
}

/** Creates a scale, clamped to the calendar and the zoom limits. */
export function scale(center: Micros, fraction: number, pixel: number, width: number): Scale {
  const whole = Math.floor(fraction);
  const middle = center + BigInt(whole);
  const size = Math.min(Math.max(pixel, PIXEL_MIN), pixelMax(width));
  // The ends of the calendar may reach the center, but time outside it must not fill the axis.
  const half = BigInt(Math.round((size * width) / 2));
  const inset = half > EDGE ? half - EDGE : 0n;
  const clamped = middle < FIRST + inset ? FIRST + inset : middle > LAST - inset ? LAST - inset : middle;
  return { center: clamped, fraction: clamped === middle ? fraction - whole : 0, pixel: size, width };
}

/** Returns the x position of an instant in pixels. */
export function xOf(view: Scale, instant: Micros): number {
  return view.width / 2 + (Number(instant - view.center) - view.fraction) / view.pixel;
}

/** Returns the instant at an x position. */
export function timeAt(view: Scale, x: number): Micros {
  const instant = view.center + BigInt(Math.round((x - view.width / 2) * view.pixel + view.fraction));
  return instant < FIRST ? FIRST : instant > LAST ? LAST : instant;
}

/** Pans by pixels. Positive values reveal later time. */
export function panned(view: Scale, pixels: number): Scale {
  const moved = pixels * view.pixel + view.fraction;
  const whole = Math.floor(moved);
  return scale(view.center + BigInt(whole), moved - whole, view.pixel, view.width);
}

/** Zooms by a factor (less than 1 zooms in) and keeps the instant at `x` in place. */
export function zoomed(view: Scale, factor: number, x: number): Scale {
  const pixel = Math.min(Math.max(view.pixel * factor, PIXEL_MIN), pixelMax(view.width));
  return panned({ ...view, pixel }, ((x - view.width / 2) * (view.pixel - pixel)) / pixel);
}

/** Returns a scale that shows a range with a margin at both ends. */
export function fitted(from: Micros, to: Micros, width: number, room = 0.04): Scale {
  const span = to > from ? Number(to - from) : 0;
  const inner = Math.max(width * (1 - 2 * room), 1);
  // A single instant is shown within one hour.
  const pixel = span === 0 ? 3_600_000_000 / inner : span / inner;
  return scale((from + to) / 2n, 0, pixel, width);
}

/** Width of the scale labels at the left. */
const NUMBERS_PIXELS = 48;
/** Minimum margin at the ends, as a fraction of the axis. */
const ROOM = 0.04;

/** Returns a scale that shows a range to the right of the scale labels. */
export function paddedScale(from: Micros, to: Micros, width: number): Scale {
  const more = Math.max(0, NUMBERS_PIXELS - ROOM * width);
  // Long events may end after the calendar.
  const end = to > LAST ? LAST : to;
  return panned(widened(fitted(from, end, width - more, ROOM), width), -more / 2);
}

export function widened(view: Scale, width: number): Scale {
  return scale(view.center, view.fraction, view.pixel, width);
}
