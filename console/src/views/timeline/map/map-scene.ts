/** What is drawn on the map: which events and where they are, in which part of the world. */
import type { EventStore } from '../../../lib/events/store';
import type { Box } from '../../../lib/address/ranges';
import { projected, type MapView, type Size } from './map-view';

/** Where the events of a store are, in units of the projection. */
export class Places {
  readonly xs: Float32Array;
  readonly ys: Float32Array;

  constructor(readonly store: EventStore) {
    this.xs = new Float32Array(store.count).fill(NaN);
    this.ys = new Float32Array(store.count).fill(NaN);
    for (let row = 0; row < store.count; row += 1) {
      if (Number.isNaN(store.lats[row]!)) continue;
      const [x, y] = projected(store.lats[row]!, store.lons[row]!);
      this.xs[row] = x;
      this.ys[row] = y;
    }
  }

  /** The points of some rows, without those that have no place. */
  points(first: number, last: number): { lat: number; lon: number }[] {
    const { lats, lons } = this.store;
    return Array.from({ length: last - first }, (_, index) => ({
      lat: lats[first + index]!,
      lon: lons[first + index]!,
    })).filter(({ lat }) => !Number.isNaN(lat));
  }
}

export interface MapScene {
  view: MapView;
  size: Size;
  places: Places;
  /** The rows in the time that is looked at: `[first, last)`. */
  first: number;
  last: number;
  box: Box | null;
  /** Where the selected event is; null where there is none, or where it is not known. */
  selectedAt: { lat: number; lon: number } | null;
  /** The color of a row; null where all have one, or their groups are not known yet. */
  colors: ((row: number) => string) | null;
  /** Whether groups are to have colors, also before they are known. */
  isColored: boolean;
  /** Whether a line joins the events, in the order of their times. */
  isTrack: boolean;
  /** Places of what the selected one hangs on and what depends on it. */
  linked: number[];
}

/** Returns the rows of what an event hangs on, as far as these were read; none where there is no event. */
export function causesOf(store: EventStore, eventId: string | null): number[] {
  const row = eventId === null ? -1 : store.row(eventId);
  const causes = row < 0 ? [] : (store.causes[row] ?? []);
  return causes.map((cause) => store.row(cause.event_id)).filter((cause) => cause >= 0);
}
