/**
 * Requests exact counts where bars give only an estimate: for the selected range and the view. Each count is a request
 * and a ledger entry, so it is sent only once the range is stable.
 */
import { untrack } from 'svelte';
import { readPartialCount } from '../../../lib/events/counts';
import { route } from '../../../lib/address/route.svelte';
import { isWorthCounting, type ExactCounts } from './exact-counts.svelte';
import type { TimelineModel } from '../model.svelte';
import type { Range } from '../viewport.svelte';

/** Delay before a stable range is counted, so that requests for visible bars and events go first. */
const DEBOUNCE_MS = 800;

/** Counts the stable selection and view for the lifetime of the calling component. */
export function countExactly(model: TimelineModel, exactCounts: ExactCounts): void {
  // The query has changed or everything is reloaded.
  $effect(() => {
    if (model.phase === 'loading') untrack(() => exactCounts.forget(null));
  });
  const isListed = $derived(route.get('view') === 'list');
  // A list counts its own events.
  countWhenStable(model, exactCounts, () => (isListed ? null : model.range));
  // A view that follows the clock is never stable.
  const isMoving = $derived(route.get('follow') !== null || (isListed && model.range === null));
  countWhenStable(model, exactCounts, () => (isMoving ? null : model.viewport.range));
}

function countWhenStable(model: TimelineModel, exactCounts: ExactCounts, rangeOf: () => Range | null): void {
  const range = $derived(rangeOf());
  const isNeeded = $derived.by(() => {
    const { phase, counts, isFar } = model;
    if (range === null || phase !== 'ready' || counts === null || !isFar) return false;
    return exactCounts.of(range.from, range.to) === undefined && isWorthCounting(counts, range);
  });
  // A change to the address that keeps the range does not repeat the request.
  const rangeKey = $derived(isNeeded ? `${range!.from}/${range!.to} ${exactCounts.generation}` : null);
  $effect(() => {
    if (rangeKey === null) return;
    const [countedRange, generation] = untrack(() => [range!, exactCounts.generation]);
    const request = new AbortController();
    const timer = setTimeout(() => {
      // If the request fails or exceeds the limit, keep the estimate.
      void readPartialCount(model.question, countedRange, request.signal).then(
        ({ count, isAll }) => isAll && exactCounts.generation === generation && exactCounts.know(countedRange, count),
        () => {},
      );
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      request.abort();
    };
  });
}
