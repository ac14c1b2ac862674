/** Moves the map automatically to the counted cells. */
import { boxAround, corners, type Cells } from '../cells/cells';
import { fittedTo, isElsewhere, type MapView, type Size } from './map-view';

/**
 * Maximum number of automatic moves. Cells of the whole world are coarse, so after each move finer cells are counted,
 * which may allow another one.
 */
const TIMES_MAX = 3;

export class AutoZoom {
  private times = 0;

  /** Restarts for a different query. */
  reset(): void {
    this.times = 0;
  }

  /** Counts an automatic move. */
  moved(): void {
    this.times += 1;
  }

  /** Returns a view of the counted cells; null if the map should stay. */
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
