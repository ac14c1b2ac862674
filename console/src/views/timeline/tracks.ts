/** The ways that colored groups took, such as storms: a line on the map for each, through its events in their order. */
import { isTrack, isTracked, type Filter } from '../../lib/events/filter';
import type { EventStore } from '../../lib/events/store';
import { hue, type Palette } from '../../lib/palette';
import { valuesOf, type Legend } from './groups';
import type { MapScene } from './map';

/**
 * Returns the events of each group that have a place, among those from `first` on and before `last`. What belongs to
 * several groups is on the way of each.
 */
export function tracksOf(store: EventStore, legend: Legend, first: number, last: number): number[][] {
  const groups = new Map(legend.groups.map(({ key }, index) => [key, index]));
  const tracks = legend.groups.map((): number[] => []);
  for (let event = first; event < last; event += 1) {
    if (Number.isNaN(store.lats[event]!)) continue;
    for (const value of new Set(valuesOf(store.bodies[event]!, legend.by))) {
      const group = groups.get(value);
      if (group !== undefined) tracks[group]!.push(event);
    }
  }
  return tracks;
}

/** Draws the ways of the groups, where each is one thing; what a filter has left of one thing is joined already. */
export function paintTracks(
  context: CanvasRenderingContext2D,
  palette: Palette,
  scene: Pick<MapScene, 'view' | 'size' | 'places' | 'first' | 'last'>,
  /** Pixels in a unit of the projection. */
  scale: number,
  { legend, filter }: { legend: Legend | null; filter: Filter },
): void {
  if (legend === null || !isTracked(legend.by) || isTrack(filter)) return;
  const { size, places, view } = scene;
  context.globalAlpha = 0.75;
  context.lineWidth = 1.8;
  context.lineJoin = 'round';
  tracksOf(places.store, legend, scene.first, scene.last).forEach((events, group) => {
    context.strokeStyle = hue(palette, group, legend.groups.length);
    context.beginPath();
    let before = NaN;
    for (const event of events) {
      const x = (places.xs[event]! - view.x) * scale + size.width / 2;
      const y = (places.ys[event]! - view.y) * scale + size.height / 2;
      const lon = places.store.lons[event]!;
      // A line around the world is left out.
      if (Math.abs(lon - before) <= 180) context.lineTo(x, y);
      else context.moveTo(x, y);
      before = lon;
    }
    context.stroke();
  });
  context.globalAlpha = 1;
}
