/** Permissions for the whole timeline, with reasons. */
import { ALLOWED, denied, type Right } from '../../../lib/session/rights';
import { session } from '../../../lib/session/session.svelte';

/** Whether the user may end the timeline. Requires the right to erase; `main` and `system` cannot be ended. */
export function mayEnd(timeline: string): Right {
  if (timeline === 'main') return denied('Requests that name no timeline use main, so it cannot be ended.');
  if (timeline === 'system') return denied('The service itself needs system, so it cannot be ended.');
  const level = session.body?.restriction_level;
  if (level === 'read_only' || level === 'no_access')
    return denied('Your access is read-only. An operator can change that.');
  return ALLOWED;
}

/** Whether the user may download a bundle, which contains all clock and event data. */
export function mayExport(timeline: string): Right {
  if (timeline === 'system') return denied('system holds data about this service itself, so it cannot be exported.');
  if (session.body?.restriction_level === 'no_access')
    return denied("You don't have access to clocks and events, which a bundle holds. An operator can change that.");
  return ALLOWED;
}
