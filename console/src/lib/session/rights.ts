/**
 * Permissions of the user on a timeline, with reasons. The service enforces them; the console only avoids offering
 * actions it would reject.
 */
import { session } from './session.svelte';
import { timelines } from '../timelines/timelines.svelte';

/** Permission for an action, or the reason for its absence. */
export type Right = { may: true } | { may: false; why: string };

export const ALLOWED: Right = { may: true };
export const denied = (why: string): Right => ({ may: false, why });

/** Whether the user may record and correct events. */
export function mayRecord(timeline: string): Right {
  if (timeline === 'system') return denied('Only the service itself writes to the timeline system.');
  const level = session.body?.restriction_level;
  if (level === 'read_only') return denied('Your access is read-only. An operator can change that.');
  if (level === 'no_access') return denied("You don't have access to clocks and events. An operator can change that.");
  // Allow everything until roles are known; the service rejects forbidden actions.
  if (session.isOperator || !timelines.isRead) return ALLOWED;
  const role = timelines.find(timeline)?.role;
  if (role === undefined || role === 'write' || role === 'admin' || role === 'operator') return ALLOWED;
  return denied(`Your access to ${timeline} is read-only. Ask one of its admins for write access.`);
}

/**
 * Whether the user may move the clock and set anchors. With limited access this depends on the destination, which the
 * service checks.
 */
export function mayMoveClock(timeline: string): Right {
  return mayRecord(timeline);
}

/** Whether the user may change the clock rate. */
export function maySetRate(timeline: string): Right {
  if (session.body?.restriction_level === 'limited_access')
    return denied('With limited access, the rate of a clock stays as it is.');
  return mayMoveClock(timeline);
}

/** Whether the user may intervene, dry runs included, and restore an anchor. */
export function mayIntervene(timeline: string): Right {
  if (session.body?.restriction_level === 'limited_access')
    return denied('With limited access, history stays as it is: no interventions.');
  return mayRecord(timeline);
}

/** Whether the user may create timelines. */
export function mayCreateTimelines(): Right {
  const level = session.body?.restriction_level;
  const isHeld = level === 'read_only' || level === 'no_access';
  return isHeld
    ? denied("Your access is read-only, so you can't create timelines. An operator can change that.")
    : ALLOWED;
}
