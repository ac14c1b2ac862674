/** A map that comes nearer by itself to what is counted on it. */
import { boxAround, corners, type Cells } from '../cells/cells';
import { fittedTo, isElsewhere, type MapView, type Size } from './map-view';

/**
 * Cells of the whole world are coarse: all flights of a city are one. Where the map went to them by itself, they are
 * counted there in finer ones, and it goes on to these, so many times.
 */
const TIMES_MAX = 3;

export class Nearer {
  private times = 0;

  /** Begins anew, as for other events. */
  reset(): void {
    this.times = 0;
  }

  /** Is told that the map went where this said. */
  moved(): void {
    this.times += 1;
  }

  /** Returns what brings counted cells into sight; null where the map may stay where it is. */
  to({ cells }: Cells, view: MapView, size: Size): MapView | null {
    if (this.times >= TIMES_MAX || cells.length === 0) return null;
    const box = boxAround(corners(cells));
    const next = box && fittedTo(box, size);
    if (next === null || !isElsewhere(view, next, size)) {
      this.times = TIMES_MAX;
      return null;
    }
    return next;
  }
}
