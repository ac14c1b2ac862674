/** Permanent links: they show the same data after later recordings and changes. */
import { viewParams } from '../events/address';
import type { Scale } from '../chart/scale';
import { format, type Micros } from '../time/instant';

/**
 * Returns a link to a timeline with these parameters, as it was known at a moment of host time. `view` is the visible
 * range of an axis that follows the clock.
 */
export function lastingLink(
  base: string,
  params: Readonly<Record<string, string>>,
  knownAt: Micros,
  view: Scale | null = null,
): string {
  // Playback, relative periods and overlays are not part of the linked content.
  const lasting = Object.entries(params).filter(
    ([name]) => !['do', 'export', 'follow', 'period', 'play', 'tour'].includes(name),
  );
  const at = params.period !== undefined && view !== null ? viewParams(view) : {};
  const query = new URLSearchParams({ as_of: format(knownAt), ...Object.fromEntries(lasting), ...at });
  return `${base.split('#', 1)[0] ?? ''}#/timeline?${query.toString()}`;
}
