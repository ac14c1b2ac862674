/** A place that the service knows by its name, also where nothing happens there: the map can go to it. */
import { pointOf, type Resolved } from '../../../lib/places/place';

/** So near the map shows a single place with what is around it. */
const ZOOM = 14;

export interface Spot {
  name: string;
  /** Where it is, as the map is told in an address. */
  map: string;
}

/** Returns the place that a text was understood as; null where it is none, or reaches far, as a country does. */
export function spotOf(resolved: Resolved): Spot | null {
  const point = pointOf(resolved);
  if (!resolved.place || point === null) return null;
  return { name: resolved.place, map: [point.lat.toFixed(3), point.lon.toFixed(3), ZOOM].join(',') };
}
