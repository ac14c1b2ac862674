/** The visible range and its navigation. */
import type { Micros } from '../../lib/time/instant';
import { scale, timeAt, type Scale } from '../../lib/chart/scale';

export interface Range {
  from: Micros;
  to: Micros;
}

/** While following the clock, each frame changes the view. Minimum interval between the requests that depend on it. */
export const SETTLE_MS = 2_000;

export class Viewport {
  view = $state.raw<Scale>(scale(0n, 0, 1e9, 1_000));
  /** Whether `view` was chosen by the user or the address instead of by default. */
  isChosen = $state(false);
  readonly range = $derived<Range>({ from: timeAt(this.view, 0), to: timeAt(this.view, this.view.width) });
  #followed = 0;

  /** `onmoved` is called after each navigation. */
  constructor(private readonly onmoved: () => void) {}

  setView(view: Scale): void {
    this.view = view;
    this.isChosen = true;
    this.onmoved();
  }

  /** Moves with the clock, with a limited rate of `onmoved` calls. */
  follow(view: Scale): void {
    this.view = view;
    this.isChosen = true;
    if (performance.now() - this.#followed < SETTLE_MS) return;
    this.#followed = performance.now();
    this.onmoved();
  }

  /** Moves a time into view without zooming. */
  reveal(instant: Micros): void {
    const { view } = this;
    const from = timeAt(view, view.width * 0.03);
    const to = timeAt(view, view.width * 0.97);
    if (instant < from || instant > to) this.setView(scale(instant, 0, view.pixel, view.width));
  }
}
