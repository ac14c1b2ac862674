/** Input of the map painting: the events, their places and the view. */
import type { EventStore } from '../../../lib/events/store';
import type { Box } from '../../../lib/address/ranges';
import { projected, type MapView, type Size } from './map-view';

/** Projected coordinates of the events in a store. */
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

  /** Returns the coordinates of some rows, without those that have no place. */
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
  /** Rows in the displayed time, `[first, last)`. */
  first: number;
  last: number;
  box: Box | null;
  /** Place of the selected event; null if there is none or it is unknown. */
  selectedAt: { lat: number; lon: number } | null;
  /** Returns the color of a row; null if all rows have the same, or their groups are not known yet. */
  colors: ((row: number) => string) | null;
  /** Whether groups get colors, even before they are known. */
  isColored: boolean;
  /** Whether a line connects the events in time order. */
  isTrack: boolean;
  /** Rows of the causes of the selected event. */
  linked: number[];
}

/** Returns the rows of an event's causes that are loaded; empty without an event. */
export function causesOf(store: EventStore, eventId: string | null): number[] {
  const row = eventId === null ? -1 : store.row(eventId);
  const causes = row < 0 ? [] : (store.causes[row] ?? []);
  return causes.map((cause) => store.row(cause.event_id)).filter((cause) => cause >= 0);
}
