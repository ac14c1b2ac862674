/** The ways that colored groups took, such as storms: a line on the map for each, through its events in their order. */
import { isTrack, isTracked, type Filter } from '../../../lib/events/filter';
import type { EventStore } from '../../../lib/events/store';
import { hue, type Palette } from '../../../lib/chart/palette';
import { valuesOf, type Legend } from '../groups/groups';
import type { MapScene } from './map-scene';

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

/** Returns the events of each actor that is at several places, in the same way. */
export function actorTracks(store: EventStore, first: number, last: number): number[][] {
  const tracks = new Map<string, number[]>();
  for (let event = first; event < last; event += 1) {
    if (Number.isNaN(store.lats[event]!)) continue;
    for (const actor of new Set(store.bodies[event]!.actors ?? [])) {
      const track = tracks.get(actor) ?? [];
      track.push(event);
      tracks.set(actor, track);
    }
  }
  const { lats, lons } = store;
  return [...tracks.values()].filter((track) =>
    track.some((event) => lats[event] !== lats[track[0]!] || lons[event] !== lons[track[0]!]),
  );
}

/** What the map is asked to join: null for what belongs together by itself, else all actors, or nothing. */
export type TracksChoice = boolean | null;

export function tracksChoice(text: string | null): TracksChoice {
  return text === '1' ? true : text === '0' ? false : null;
}

interface TrackOptions {
  legend: Legend | null;
  filter: Filter;
}

/** Whether lines are drawn without anybody choosing them: the groups, or what a filter has left, are one thing each. */
export function joinsByItself({ legend, filter }: TrackOptions): boolean {
  return isTrack(filter) || (legend !== null && isTracked(legend.by));
}

/** Draws the ways of the groups where each is one thing, else those of actors; one that a filter has left is drawn. */
export function paintTracks(
  context: CanvasRenderingContext2D,
  palette: Palette,
  scene: Pick<MapScene, 'view' | 'size' | 'places' | 'first' | 'last'>,
  /** Pixels in a unit of the projection. */
  scale: number,
  { legend, filter }: TrackOptions,
  choice: TracksChoice = null,
): void {
  if (choice === false || isTrack(filter)) return;
  const { size, places, view, first, last } = scene;
  const isGrouped = legend !== null && isTracked(legend.by);
  if (!isGrouped && choice === null) return;
  const tracks = isGrouped ? tracksOf(places.store, legend, first, last) : actorTracks(places.store, first, last);
  context.globalAlpha = 0.75;
  context.lineWidth = 1.8;
  context.lineJoin = 'round';
  tracks.forEach((events, group) => {
    const color = isGrouped ? hue(palette, group, legend.groups.length) : palette.muted;
    context.strokeStyle = color;
    context.beginPath();
    let before = NaN;
    let way: { x: number; y: number }[] = [];
    for (const event of events) {
      const x = (places.xs[event]! - view.x) * scale + size.width / 2;
      const y = (places.ys[event]! - view.y) * scale + size.height / 2;
      const lon = places.store.lons[event]!;
      // A line around the world is left out.
      const isOn = Math.abs(lon - before) <= 180;
      context[isOn ? 'lineTo' : 'moveTo'](x, y);
      if (!isOn) way = [];
      way.push({ x, y });
      before = lon;
    }
    context.stroke();
    context.fillStyle = color;
    paintEnd(context, way);
  });
  context.globalAlpha = 1;
}

const ARROW = 10;

/** Draws an arrow where a way ends, in the direction from the place before. */
export function paintEnd(context: CanvasRenderingContext2D, way: readonly { x: number; y: number }[]): void {
  const end = way.at(-1);
  // Places of one pixel have no direction.
  const before = [...way].reverse().find(({ x, y }) => Math.hypot(end!.x - x, end!.y - y) > 2);
  if (end === undefined || before === undefined) return;
  const angle = Math.atan2(end.y - before.y, end.x - before.x);
  context.beginPath();
  for (const [length, turn] of [
    [ARROW, 0],
    [ARROW, 2.4],
    [ARROW, -2.4],
  ] as const)
    context.lineTo(end.x + length * Math.cos(angle + turn), end.y + length * Math.sin(angle + turn));
  context.fill();
}
