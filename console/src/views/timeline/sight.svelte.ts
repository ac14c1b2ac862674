/** What part of time is in sight, and how one moves about in it. */
import type { Micros } from '../../lib/time/instant';
import { scale, timeAt, type Scale } from '../../lib/chart/scale';

export interface Range {
  from: Micros;
  to: Micros;
}

/** While time is followed, each frame changes the view. What depends on it is requested at most this often. */
export const SETTLE_MS = 2_000;

export class Sight {
  view = $state.raw<Scale>(scale(0n, 0, 1e9, 1_000));
  /** Whether `view` was chosen, by an address or by hand, and not only by what there is. */
  isChosen = $state(false);
  readonly range = $derived<Range>({ from: timeAt(this.view, 0), to: timeAt(this.view, this.view.width) });
  #followed = 0;

  /** `onmoved` is told each time somebody went elsewhere. */
  constructor(private readonly onmoved: () => void) {}

  look(view: Scale): void {
    this.view = view;
    this.isChosen = true;
    this.onmoved();
  }

  /** Goes on with the clock. With each frame is too often to ask for anything. */
  follow(view: Scale): void {
    this.view = view;
    this.isChosen = true;
    if (performance.now() - this.#followed < SETTLE_MS) return;
    this.#followed = performance.now();
    this.onmoved();
  }

  /** Brings an instant into sight, without zooming. */
  reveal(instant: Micros): void {
    const { view } = this;
    const from = timeAt(view, view.width * 0.03);
    const to = timeAt(view, view.width * 0.97);
    if (instant < from || instant > to) this.look(scale(instant, 0, view.pixel, view.width));
  }
}
