/**
 * Counts exactly what bars tell only about: the time that is selected, and the one in view. Each count is one question,
 * and an entry of what was read, so it is asked only once a time stays.
 */
import { untrack } from 'svelte';
import { readSome } from '../../../lib/events/counts';
import { route } from '../../../lib/address/route.svelte';
import { isWorthCounting, type Exactly } from './exactly.svelte';
import type { TimelineModel } from '../model.svelte';
import type { Range } from '../sight.svelte';

/** One looks for this long at a time before it is counted: bars and events that are in sight are asked for before. */
const REST_MS = 800;

/** Counts what stays selected or in view, as long as the component that calls it is there. */
export function countExactly(model: TimelineModel, exactly: Exactly): void {
  // Something else is asked for, or all of it anew.
  $effect(() => {
    if (model.phase === 'loading') untrack(() => exactly.forget(null));
  });
  const isListed = $derived(route.get('view') === 'list');
  // A list counts what it lists.
  countOnceItRests(model, exactly, () => (isListed ? null : model.range));
  // What moves with the clock never rests.
  const isMoving = $derived(route.get('follow') !== null || (isListed && model.range === null));
  countOnceItRests(model, exactly, () => (isMoving ? null : model.sight.range));
}

function countOnceItRests(model: TimelineModel, exactly: Exactly, rangeOf: () => Range | null): void {
  const range = $derived(rangeOf());
  const isNeeded = $derived.by(() => {
    const { phase, counts, isFar } = model;
    if (range === null || phase !== 'ready' || counts === null || !isFar) return false;
    return exactly.of(range.from, range.to) === undefined && isWorthCounting(counts, range);
  });
  // The same time, written anew into the address, is not asked for again.
  const rangeKey = $derived(isNeeded ? `${range!.from}/${range!.to} ${exactly.generation}` : null);
  $effect(() => {
    if (rangeKey === null) return;
    const [countedRange, generation] = untrack(() => [range!, exactly.generation]);
    const request = new AbortController();
    const timer = setTimeout(() => {
      // Where it fails, or is too much after all, it stays about so many.
      void readSome(model.question, countedRange, request.signal).then(
        ({ count, isAll }) => isAll && exactly.generation === generation && exactly.know(countedRange, count),
        () => {},
      );
    }, REST_MS);
    return () => {
      clearTimeout(timer);
      request.abort();
    };
  });
}
