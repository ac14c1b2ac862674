/**
 * Natural Earth world map as SVG paths: land, borders, graticule. The data is large; import this module only from
 * lazily loaded modules.
 */
import { geoCircle, geoGraticule10, geoPath, type GeoPermissibleObjects, type GeoProjection } from 'd3-geo';
import { feature, mesh } from 'topojson-client';
import type { GeometryCollection, Topology } from 'topojson-specification';
import atlas from 'world-atlas/countries-110m.json';
import type { Point } from './place';

const topology = atlas as unknown as Topology<{ land: GeometryCollection; countries: GeometryCollection }>;

/** The map in one projection, each part as SVG path data. */
export class World {
  readonly #path;

  /** `digits` is the number of decimals in coordinates. */
  constructor(projection: GeoProjection, digits: number) {
    this.#path = geoPath(projection).digits(digits);
  }

  #text(shape: GeoPermissibleObjects): string {
    return this.#path(shape) ?? '';
  }

  land(): string {
    return this.#text(feature(topology, topology.objects.land));
  }

  /** Borders between countries, without coastlines. */
  borders(): string {
    return this.#text(mesh(topology, topology.objects.countries, (a, b) => a !== b));
  }

  sphere(): string {
    return this.#text({ type: 'Sphere' });
  }

  graticule(): string {
    return this.#text(geoGraticule10());
  }

  /** The hemisphere opposite to the sun. */
  night(sun: Point): string {
    return this.#text(
      geoCircle()
        .center([sun.lon + 180, -sun.lat])
        .radius(90)(),
    );
  }
}
