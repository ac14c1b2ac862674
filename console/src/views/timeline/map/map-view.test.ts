import { describe, expect, it } from 'vitest';
import { WORLD, bounded, visibleBox, boxOf, located, projected, unit, type MapView } from './map-view';

const size = { width: 900, height: 430 };
/** Position of a place on the screen. */
const pixel = (view: MapView, lat: number, lon: number) => {
  const [x, y] = projected(lat, lon);
  const scale = unit(size, view.zoom);
  return { x: (x - view.x) * scale + size.width / 2, y: (y - view.y) * scale + size.height / 2 };
};

describe('a pixel of the map', () => {
  it('maps to a place inside the world', () => {
    for (const [lat, lon] of [
      [0, 0],
      [29.95, -90.07],
      [78, 179],
      [-64, -179],
    ] as const) {
      const { x, y } = pixel(WORLD, lat, lon);
      const place = located(WORLD, size, x, y);
      expect(place?.lat).toBeCloseTo(lat, 6);
      expect(place?.lon).toBeCloseTo(lon, 6);
    }
  });

  it('maps to nothing beyond the edge of the world', () => {
    const { x, y } = pixel(WORLD, 40, -180);
    expect(located(WORLD, size, x + 3, y)?.lon).toBeCloseTo(-178.5, 0);
    expect(located(WORLD, size, x - 3, y)).toBeNull();
    expect(located(WORLD, size, 2, 2)).toBeNull();
  });
});

describe('the visible area', () => {
  it('extends to the end of the world if that is in view', () => {
    // Most of the Atlantic: the upper left corner is beyond the edge, the lower left is not.
    const view = bounded({ zoom: 1.6, x: projected(40, -55)[0], y: projected(40, -55)[1] });
    expect(located(view, size, 0, 0)).toBeNull();
    expect(visibleBox(view, size)).toMatchObject({ west: -180, north: 90 });
  });

  it('contains everything on the screen', () => {
    for (const [zoom, lat, lon] of [
      [1.5, 60, -120],
      [2, 0, 150],
      [4, -70, 30],
      [9, 25, -80],
    ] as const) {
      const view = bounded({ zoom, x: projected(lat, lon)[0], y: projected(lat, lon)[1] });
      const box = visibleBox(view, size)!;
      for (let x = 0; x <= size.width; x += 30)
        for (let y = 0; y <= size.height; y += 30) {
          const place = located(view, size, x, y);
          if (place === null) continue;
          expect(place.lon).toBeGreaterThanOrEqual(box.west);
          expect(place.lon).toBeLessThanOrEqual(box.east);
          expect(place.lat).toBeGreaterThanOrEqual(box.south);
          expect(place.lat).toBeLessThanOrEqual(box.north);
        }
    }
  });

  it('is null if it is most of the world', () => {
    expect(visibleBox(WORLD, size)).toBeNull();
  });
});

describe('a selected area', () => {
  it('is clipped at the edge of the world if the drag started beyond it', () => {
    const to = pixel(WORLD, -10, -80);
    const box = boxOf(WORLD, size, { x: 2, y: pixel(WORLD, 30, -180).y }, to)!;
    expect(box.west).toBe(-180);
    expect(box.east).toBeLessThan(-60);
    expect(box.north).toBeCloseTo(30, 1);
  });

  it('is null beyond the edge', () => {
    expect(boxOf(WORLD, size, { x: 0, y: 0 }, { x: 30, y: 30 })).toBeNull();
  });
});
