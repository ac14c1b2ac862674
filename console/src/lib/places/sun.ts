/**
 * Where the sun stands, to about a tenth of a degree in our centuries, a degree or two at the ends of the calendar:
 * enough to draw a day. Source: The Astronomical Almanac, section C, low precision formulas for the sun; mean sidereal
 * time of the USNO.
 */
import { DAY, type Micros } from '../time/instant';

/** 2000-01-01T12:00:00Z, in microseconds. */
const J2000: Micros = 946_728_000_000_000n;
const DEGREE = Math.PI / 180;
/** The sun's upper edge touches the horizon, refraction included. */
const RISE_DEGREES = -0.833;

interface SunPosition {
  declination: number;
  /** The longitude over which the sun stands. */
  longitude: number;
}

/** Returns the point on the earth that the sun stands over, in degrees. */
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

/** Returns how high the sun stands over the horizon of a place, in degrees. */
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
  /** Elevations at equal steps from the beginning of the day to its end. */
  curve: number[];
  /** Fractions of the day; null where the sun does not rise or set. */
  rise: number | null;
  set: number | null;
}

/** Returns the course of the sun over a day that begins at `start`. */
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
