/**
 * What part of time is on the screen: its middle and how much time one pixel is.
 *
 * Microseconds since 1970 do not fit into a number without loss, so the middle is a bigint (and a fraction of a
 * microsecond, for the deepest zoom), and everything is drawn at its distance from there.
 */
import { SECOND, floorDiv, type Micros } from '../time/instant';

/** The calendar of the API, from −9999-01-01 to 9999-12-31. */
export const FIRST: Micros = -377_705_116_800_000_000n;
export const LAST: Micros = 253_402_300_799_999_999n;

/** How much time may be seen beyond the calendar. */
const EDGE = (LAST - FIRST) / 20n;

/** At the deepest, a microsecond is 40 pixels. */
const PIXEL_MIN = 1 / 40;

export interface Scale {
  /** The moment in the middle. */
  readonly center: Micros;
  /** How much of a microsecond later the middle really is, from 0 to less than 1. */
  readonly fraction: number;
  /** Microseconds in a pixel. */
  readonly pixel: number;
  /** Width of the axis in pixels. */
  readonly width: number;
}

/** An instant as two numbers that are exact: whole seconds, and microseconds within the second. */
interface Parts {
  seconds: number;
  micros: number;
}

export function split(instant: Micros): Parts {
  const seconds = floorDiv(instant, SECOND);
  return { seconds: Number(seconds), micros: Number(instant - seconds * SECOND) };
}

/** Returns the most time that a pixel may be, so that the whole calendar still fills the axis. */
function pixelMax(width: number): number {
  return (Number(LAST - FIRST) / Math.max(width, 1)) * 1.05;
}

/** Makes a scale within the bounds of calendar and zoom. */
export function scale(center: Micros, fraction: number, pixel: number, width: number): Scale {
  const whole = Math.floor(fraction);
  const middle = center + BigInt(whole);
  const size = Math.min(Math.max(pixel, PIXEL_MIN), pixelMax(width));
  // The ends of the calendar may come to the middle, but not so far that emptiness fills the axis.
  const half = BigInt(Math.round((size * width) / 2));
  const inset = half > EDGE ? half - EDGE : 0n;
  const clamped = middle < FIRST + inset ? FIRST + inset : middle > LAST - inset ? LAST - inset : middle;
  return { center: clamped, fraction: clamped === middle ? fraction - whole : 0, pixel: size, width };
}

/** Returns where an instant is, in pixels from the left. */
export function xOf(view: Scale, instant: Micros): number {
  return view.width / 2 + (Number(instant - view.center) - view.fraction) / view.pixel;
}

/** Returns the instant at a pixel. */
export function timeAt(view: Scale, x: number): Micros {
  const instant = view.center + BigInt(Math.round((x - view.width / 2) * view.pixel + view.fraction));
  return instant < FIRST ? FIRST : instant > LAST ? LAST : instant;
}

/** Moves what is shown by pixels: with a positive number later time comes into sight. */
export function panned(view: Scale, pixels: number): Scale {
  const moved = pixels * view.pixel + view.fraction;
  const whole = Math.floor(moved);
  return scale(view.center + BigInt(whole), moved - whole, view.pixel, view.width);
}

/** Zooms by a factor (less than 1 shows less time) so that what is under `x` stays there. */
export function zoomed(view: Scale, factor: number, x: number): Scale {
  const pixel = Math.min(Math.max(view.pixel * factor, PIXEL_MIN), pixelMax(view.width));
  return panned({ ...view, pixel }, ((x - view.width / 2) * (view.pixel - pixel)) / pixel);
}

/** Shows all from one instant to another, with some room at both ends. */
export function fitted(from: Micros, to: Micros, width: number, room = 0.04): Scale {
  const span = to > from ? Number(to - from) : 0;
  const inner = Math.max(width * (1 - 2 * room), 1);
  // A single moment is shown in an hour around it.
  const pixel = span === 0 ? 3_600_000_000 / inner : span / inner;
  return scale((from + to) / 2n, 0, pixel, width);
}

/** The numbers of a scale take so many pixels at the left. */
const NUMBERS_PIXELS = 48;
/** How much of an axis is left free at its ends, if that is more. */
const ROOM = 0.04;

/** Shows all from one instant to another, beside the numbers of a scale at the left. */
export function paddedScale(from: Micros, to: Micros, width: number): Scale {
  const more = Math.max(0, NUMBERS_PIXELS - ROOM * width);
  // What lasts may end after the calendar.
  const end = to > LAST ? LAST : to;
  return panned(widened(fitted(from, end, width - more, ROOM), width), -more / 2);
}

export function widened(view: Scale, width: number): Scale {
  return scale(view.center, view.fraction, view.pixel, width);
}
