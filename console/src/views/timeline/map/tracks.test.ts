import { describe, expect, it } from 'vitest';
import { ALL } from '../../../lib/events/filter';
import { FIRST, LAST } from '../../../lib/chart/scale';
import { EventStore } from '../../../lib/events/store';
import type { Palette } from '../../../lib/chart/palette';
import type { Legend } from '../groups/groups';
import { legendOf } from '../groups/legend';
import type { MapScene } from './map-scene';
import { actorTracks, paintEnd, paintTracks, tracksOf } from './tracks';

/** Consecutive events with their actors and longitude; null for an event without a place. */
function storeOf(...all: [string[], number | null][]): EventStore {
  const store = new EventStore();
  all.forEach(([actors, lon], index) =>
    store.push({
      event_id: `e${index}`,
      time: `2020-01-01T00:00:${String(index).padStart(2, '0')}Z`,
      description: '',
      actors,
      geo: lon === null ? null : { lat: 0, lon },
    }),
  );
  return store;
}
const legend = (store: EventStore): Legend => legendOf(store, ALL, 'actor', { from: FIRST, to: LAST });

describe('tracks', () => {
  it('contain the events of each group that have a place, in time order', () => {
    const store = storeOf([['A'], 0], [['B'], 1], [['A', 'B'], 2], [['A'], null], [['A'], 4], [[], 5]);
    expect(tracksOf(store, legend(store), 0, store.count)).toEqual([
      [0, 2, 4],
      [1, 2],
    ]);
    expect(tracksOf(store, legend(store), 1, 4)).toEqual([[2], [1, 2]]);
  });

  it('have group colors and no lines around the world', () => {
    const store = storeOf([['A'], 10], [['A'], 20], [['B'], 170], [['B'], -170], [['A'], 30]);
    const drawn: string[] = [];
    const context = new Proxy<Record<string, unknown>>(
      {},
      {
        get: (set, name: string) =>
          set[name] ?? ((x: number) => ['moveTo', 'lineTo'].includes(name) && drawn.push(`${name} ${x}`)),
        set: (set, name: string, value) => {
          if (name === 'strokeStyle') drawn.push(String(value));
          set[name] = value;
          return true;
        },
      },
    ) as unknown as CanvasRenderingContext2D;
    const palette = new Proxy({}, { get: (_, name) => name }) as Palette;
    const scene = {
      view: { zoom: 1, x: 0, y: 0 },
      size: { width: 0, height: 0 },
      places: { store, xs: store.lons, ys: store.lats } as unknown as MapScene['places'],
      first: 0,
      last: store.count,
    };
    paintTracks(context, palette, scene, 1, { legend: legend(store), filter: ALL });
    const ends = drawn.filter((each) => each.includes('.') || each === 'lineTo 40');
    expect(drawn.filter((each) => !ends.includes(each))).toEqual([
      ...['hue-1', 'moveTo 10', 'lineTo 20', 'lineTo 30'],
      ...['hue-2', 'moveTo 170', 'moveTo -170'],
    ]);
    // One arrow: the other track has no line.
    expect(ends).toHaveLength(3);
    // The track of a single actor is drawn separately, and statuses have no tracks.
    drawn.length = 0;
    paintTracks(context, palette, scene, 1, { legend: legend(store), filter: { ...ALL, actor: 'A' } });
    paintTracks(context, palette, scene, 1, { legend: { ...legend(store), by: 'attribute.status' }, filter: ALL });
    expect(drawn).toEqual([]);
    // If chosen, they connect the events of every actor with several places; they can also be turned off.
    paintTracks(context, palette, scene, 1, { legend: null, filter: ALL }, true);
    expect(drawn.filter((each) => each.endsWith('To 10') || each === 'muted')).toEqual(['muted', 'moveTo 10', 'muted']);
    drawn.length = 0;
    paintTracks(context, palette, scene, 1, { legend: legend(store), filter: ALL }, false);
    expect(drawn).toEqual([]);
  });

  it('exist for actors with several places', () => {
    const store = storeOf([['A'], 0], [['B'], 1], [['A', 'B'], 2], [['C'], 5], [['C'], 5], [['D'], null], [['D'], 3]);
    expect(actorTracks(store, 0, store.count)).toEqual([
      [0, 2],
      [1, 2],
    ]);
    expect(actorTracks(store, 2, store.count)).toEqual([]);
  });

  it('end in an arrow if they have a direction', () => {
    const corners: number[][] = [];
    const context = {
      beginPath: () => {},
      fill: () => {},
      lineTo: (x: number, y: number) => corners.push([Math.round(x), Math.round(y)]),
    } as unknown as CanvasRenderingContext2D;
    paintEnd(context, [
      { x: 0, y: 0 },
      { x: 50, y: 0 },
      { x: 50.5, y: 0 },
    ]);
    expect(corners[0]).toEqual([61, 0]);
    expect(corners.slice(1).every(([x]) => x! < 50)).toBe(true);
    corners.length = 0;
    paintEnd(context, [{ x: 5, y: 5 }]);
    paintEnd(context, []);
    expect(corners).toEqual([]);
  });
});
