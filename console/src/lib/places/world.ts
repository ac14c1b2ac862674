/**
 * The world of Natural Earth as paths: land, borders, the lines of a globe. Its data is large and shipped once: only
 * what is imported lazily may import this.
 */
import { geoCircle, geoGraticule10, geoPath, type GeoPermissibleObjects, type GeoProjection } from 'd3-geo';
import { feature, mesh } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import atlas from 'world-atlas/countries-110m.json';
import type { Point } from './place';

const topology = atlas as unknown as Topology<{ land: GeometryCollection; countries: GeometryCollection }>;

/** The world in one projection, each part as the text of a path. */
export class World {
  readonly #path;

  /** `digits` are those behind the point of a coordinate. */
  constructor(projection: GeoProjection, digits: number) {
    this.#path = geoPath(projection).digits(digits);
  }

  #text(shape: GeoPermissibleObjects): string {
    return this.#path(shape) ?? '';
  }

  land(): string {
    return this.#text(feature(topology, topology.objects.land));
  }

  /** Where two countries meet; coasts are none. */
  borders(): string {
    return this.#text(mesh(topology, topology.objects.countries, (a, b) => a !== b));
  }

  sphere(): string {
    return this.#text({ type: 'Sphere' });
  }

  graticule(): string {
    return this.#text(geoGraticule10());
  }

  /** The half of the earth around the point opposite to the sun. */
  night(sun: Point): string {
    return this.#text(
      geoCircle()
        .center([sun.lon + 180, -sun.lat])
        .radius(90)(),
    );
  }
}
