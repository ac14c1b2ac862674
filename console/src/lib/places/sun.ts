/**
 * Position of the sun, accurate to about 0.1° in the current centuries and 1–2° at the ends of the calendar, which
 * suffices to draw daylight. Source: The Astronomical Almanac, section C, low-precision formulas for the sun; mean
 * sidereal time from the USNO.
 */
import { DAY, type Micros } from '../time/instant';

/** 2000-01-01T12:00:00Z, in microseconds. */
const J2000: Micros = 946_728_000_000_000n;
const DEGREE = Math.PI / 180;
/** Altitude at which the sun's upper edge touches the horizon, including refraction. */
const RISE_DEGREES = -0.833;

interface SunPosition {
  declination: number;
  /** Longitude of the subsolar point. */
  longitude: number;
}

/** Returns the subsolar point in degrees. */
export function subsolar(instant: Micros): SunPosition {
  const days = Number(instant - J2000) / Number(DAY);
  const mean = 280.46 + 0.985_647_4 * days;
  const anomaly = (357.528 + 0.985_600_3 * days) * DEGREE;
  const lambda = (mean + 1.915 * Math.sin(anomaly) + 0.02 * Math.sin(2 * anomaly)) * DEGREE;
  const tilt = (23.439 - 0.000_000_4 * days) * DEGREE;
  const ascension = Math.atan2(Math.cos(tilt) * Math.sin(lambda), Math.cos(lambda)) / DEGREE;
  const sidereal = (18.697_374_558 + 24.065_709_824_419_08 * days) * 15;
  return { declination: Math.asin(Math.sin(tilt) * Math.sin(lambda)) / DEGREE, longitude: wrap(ascension - sidereal) };
}

/** Returns the sun's altitude at a place in degrees. */
export function elevation(instant: Micros, lat: number, lon: number): number {
  const { declination, longitude } = subsolar(instant);
  const hour = (lon - longitude) * DEGREE;
  const sine =
    Math.sin(lat * DEGREE) * Math.sin(declination * DEGREE) +
    Math.cos(lat * DEGREE) * Math.cos(declination * DEGREE) * Math.cos(hour);
  return Math.asin(Math.max(-1, Math.min(1, sine))) / DEGREE;
}

function wrap(degrees: number): number {
  return ((((degrees + 180) % 360) + 360) % 360) - 180;
}

interface SunDay {
  /** Altitudes at equal steps over the day. */
  curve: number[];
  /** Fractions of the day; null if the sun does not rise or set. */
  rise: number | null;
  set: number | null;
}

/** Returns the sun's altitudes over a day that begins at `start`. */
export function sunDay(start: Micros, lat: number, lon: number, steps = 96): SunDay {
  const curve = Array.from({ length: steps + 1 }, (_, step) =>
    elevation(start + (DAY * BigInt(step)) / BigInt(steps), lat, lon),
  );
  const crossing = (isRise: boolean): number | null => {
    for (const [step, height] of curve.slice(0, steps).entries()) {
      const a = height - RISE_DEGREES;
      const b = (curve[step + 1] ?? height) - RISE_DEGREES;
      if (isRise ? a < 0 && b >= 0 : a >= 0 && b < 0) return (step + a / (a - b)) / steps;
    }
    return null;
  };
  return { curve, rise: crossing(true), set: crossing(false) };
}
