/** Keeps an axis at a period relative to the clock, such as the last 24 hours, until the user pans or zooms. */
import { untrack } from 'svelte';
import type { LiveClock } from '../live/clock.svelte';
import { wholeSecond } from '../time/instant';
import { periodRange } from '../time/period-range';
import { route } from '../address/route.svelte';
import { fitted, type Scale } from '../chart/scale';

/** A view with a visible time range. */
interface Axis {
  readonly view: Scale;
  setView(view: Scale): void;
}

/** Call during component initialization. The period is stored only in the URL. */
export function followPeriod(axis: () => Axis | null, clock: () => LiveClock | null, room = 0): void {
  let put: Scale | null = null;
  // Changes when the clock becomes known or is moved, the period changes, or the axis is resized.
  const period = $derived.by(() => {
    const body = clock()?.body;
    return body ? JSON.stringify([route.get('period'), body.generation, axis()?.view.width]) : null;
  });
  $effect(() => {
    if (period === null) return;
    untrack(() => {
      const [target, at] = [axis(), clock()];
      const range = at && periodRange(route.get('period'), wholeSecond(at.now));
      put = target && range ? fitted(range.from, range.to, target.view.width, room) : null;
      if (put === null) return;
      target!.setView(put);
      route.set({ center: null, zoom: null });
    });
  });
  $effect(() => {
    const view = axis()?.view;
    if (!view || put === null || (view.center === put.center && view.pixel === put.pixel)) return;
    put = null;
    // The user has panned or zoomed, so the range no longer follows the clock.
    untrack(() => route.set({ period: null }));
  });
}
