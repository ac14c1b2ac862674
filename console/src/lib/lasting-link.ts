/** Links to what is known now, that show the same whatever is recorded or changed later. */
import { format, type Micros } from './instant';

/** Returns the link to a timeline with these parameters, as it was known at a moment of host time. */
export function lastingLink(base: string, params: Readonly<Record<string, string>>, knownAt: Micros): string {
  // What moves by itself, and what lies over the view, is no part of what is shown.
  const kept = Object.entries(params).filter(([name]) => !['do', 'follow', 'play', 'tour'].includes(name));
  const query = new URLSearchParams({ as_of: format(knownAt), ...Object.fromEntries(kept) });
  return `${base.split('#', 1)[0] ?? ''}#/timeline?${query.toString()}`;
}
