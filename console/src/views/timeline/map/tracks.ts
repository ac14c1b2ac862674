/** Tracks on the map: a line through the events of each group, such as a storm, in time order. */
import { isTrack, isTracked, type Filter } from '../../../lib/events/filter';
import type { EventStore } from '../../../lib/events/store';
import { hue, type Palette } from '../../../lib/chart/palette';
import { valuesOf, type Legend } from '../groups/groups';
import type { MapScene } from './map-scene';

/**
 * Returns the events of each group that have a place, from `first` up to but excluding `last`. An event of several
 * groups is part of several tracks.
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

/** Returns the events of each actor with several places, in the same way. */
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

/** Choice of tracks: true for all actors, false for none, and null for the default. */
type TracksChoice = boolean | null;

export function tracksChoice(text: string | null): TracksChoice {
  return text === '1' ? true : text === '0' ? false : null;
}

interface TrackOptions {
  legend: Legend | null;
  filter: Filter;
}

/** Whether tracks are drawn by default: each group, or the filter result, is a single tracked object. */
export function hasDefaultTracks({ legend, filter }: TrackOptions): boolean {
  return isTrack(filter) || (legend !== null && isTracked(legend.by));
}

/**
 * Draws the tracks of groups if each is a tracked object, otherwise those of actors. The track of a filtered actor is
 * drawn elsewhere.
 */
export function paintTracks(
  context: CanvasRenderingContext2D,
  palette: Palette,
  scene: Pick<MapScene, 'view' | 'size' | 'places' | 'first' | 'last'>,
  /** Pixels per unit of the projection. */
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
    let segment: { x: number; y: number }[] = [];
    for (const event of events) {
      const x = (places.xs[event]! - view.x) * scale + size.width / 2;
      const y = (places.ys[event]! - view.y) * scale + size.height / 2;
      const lon = places.store.lons[event]!;
      // Omit lines around the world.
      const isOn = Math.abs(lon - before) <= 180;
      context[isOn ? 'lineTo' : 'moveTo'](x, y);
      if (!isOn) segment = [];
      segment.push({ x, y });
      before = lon;
    }
    context.stroke();
    context.fillStyle = color;
    paintEnd(context, segment);
  });
  context.globalAlpha = 1;
}

const ARROW = 10;

/** Draws an arrow at the end of a track, in the direction from the previous place. */
export function paintEnd(context: CanvasRenderingContext2D, segment: readonly { x: number; y: number }[]): void {
  const end = segment.at(-1);
  // Places within a pixel have no direction.
  const before = [...segment].reverse().find(({ x, y }) => Math.hypot(end!.x - x, end!.y - y) > 2);
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
