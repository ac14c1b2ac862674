/** Keeps an axis at a period that goes by the clock, such as the last 24 hours, until somebody looks elsewhere. */
import { untrack } from 'svelte';
import type { LiveClock } from '../live/clock.svelte';
import { SECOND, floorDiv } from '../time/instant';
import { periodRange } from '../time/period-range';
import { route } from '../address/route.svelte';
import { fitted, type Scale } from '../chart/scale';

/** What shows a part of time. */
interface Axis {
  readonly view: Scale;
  look(view: Scale): void;
}

/** To be called while a component is made. Which period it is stands in the address, and nowhere else. */
export function keepByTheClock(axis: () => Axis | null, clock: () => LiveClock | null, room = 0): void {
  let put: Scale | null = null;
  // When the clock is known, another period is asked for, the clock was moved, or the axis got wider.
  const period = $derived.by(() => {
    const body = clock()?.body;
    return body ? JSON.stringify([route.get('period'), body.generation, axis()?.view.width]) : null;
  });
  $effect(() => {
    if (period === null) return;
    untrack(() => {
      const [target, at] = [axis(), clock()];
      const range = at && periodRange(route.get('period'), floorDiv(at.now, SECOND) * SECOND);
      put = target && range ? fitted(range.from, range.to, target.view.width, room) : null;
      if (put === null) return;
      target!.look(put);
      route.set({ center: null, zoom: null });
    });
  });
  $effect(() => {
    const view = axis()?.view;
    if (!view || put === null || (view.center === put.center && view.pixel === put.pixel)) return;
    put = null;
    // What is looked at now is a time of its own.
    untrack(() => route.set({ period: null }));
  });
}
