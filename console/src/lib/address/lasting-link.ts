/** Links to what is known now, that show the same whatever is recorded or changed later. */
import { viewParams } from '../events/address';
import type { Scale } from '../chart/scale';
import { format, type Micros } from '../time/instant';

/**
 * Returns the link to a timeline with these parameters, as it was known at a moment of host time. `view` is what the
 * axis shows where that goes by the clock.
 */
export function lastingLink(
  base: string,
  params: Readonly<Record<string, string>>,
  knownAt: Micros,
  view: Scale | null = null,
): string {
  // What moves by itself, and what lies over the view, is no part of what is shown.
  const lasting = Object.entries(params).filter(
    ([name]) => !['do', 'export', 'follow', 'period', 'play', 'tour'].includes(name),
  );
  const at = params.period !== undefined && view !== null ? viewParams(view) : {};
  const query = new URLSearchParams({ as_of: format(knownAt), ...Object.fromEntries(lasting), ...at });
  return `${base.split('#', 1)[0] ?? ''}#/timeline?${query.toString()}`;
}
