/** A place that the service knows by name, with or without events, as a target of the map. */
import { pointOf, type ResolvedPlace } from '../../../lib/places/place';

/** Zoom for a single place with its surroundings. */
const ZOOM = 14;

interface Spot {
  name: string;
  /** Map view as a parameter of the address. */
  map: string;
}

/** Returns the place that a text was resolved to; null if there is none or it is large, such as a country. */
export function spotOf(resolved: ResolvedPlace): Spot | null {
  const point = pointOf(resolved);
  if (!resolved.place || point === null) return null;
  return { name: resolved.place, map: [point.lat.toFixed(3), point.lon.toFixed(3), ZOOM].join(',') };
}
