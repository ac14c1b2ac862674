/**
 * What the user may do on a timeline, and why not. The service decides; this only keeps from offering what it would
 * refuse.
 */
import { session } from './session.svelte';
import { timelines } from '../timelines/timelines.svelte';

/** A thing that is offered, or the reason why it is not. */
export type Right = { may: true } | { may: false; why: string };

const YES: Right = { may: true };
const no = (why: string): Right => ({ may: false, why });

/** Whether events may be recorded and corrected. */
export function mayRecord(timeline: string): Right {
  if (timeline === 'system') return no('Only the service itself writes to the timeline system.');
  const level = session.body?.restriction_level;
  if (level === 'read_only') return no('Your access is read-only. An operator can change that.');
  if (level === 'no_access') return no("You don't have access to clocks and events. An operator can change that.");
  // Until the roles are known nothing is held back: the service refuses what must not be.
  if (session.isOperator || !timelines.isRead) return YES;
  const role = timelines.find(timeline)?.role;
  if (role === undefined || role === 'write' || role === 'admin' || role === 'operator') return YES;
  return no(`Your access to ${timeline} is read-only. Ask one of its admins for write access.`);
}

/**
 * Whether the clock may be moved and anchors be set. With limited access that depends on where to; the service decides.
 */
export function mayMoveClock(timeline: string): Right {
  return mayRecord(timeline);
}

/** Whether the pace of the clock may be changed: not with limited access. */
export function maySetRate(timeline: string): Right {
  if (session.body?.restriction_level === 'limited_access')
    return no('With limited access, the rate of a clock stays as it is.');
  return mayMoveClock(timeline);
}

/** Whether interventions may be made, dry runs included, and events be taken back to an anchor. */
export function mayIntervene(timeline: string): Right {
  if (session.body?.restriction_level === 'limited_access')
    return no('With limited access, history stays as it is: no interventions.');
  return mayRecord(timeline);
}

/** Whether timelines may be made. */
export function mayMakeTimelines(): Right {
  const level = session.body?.restriction_level;
  const isHeld = level === 'read_only' || level === 'no_access';
  return isHeld ? no("Your access is read-only, so you can't create timelines. An operator can change that.") : YES;
}

/** Whether the timeline may be ended: by those who may erase on it, and never `main` and `system`. */
export function mayEnd(timeline: string): Right {
  if (timeline === 'main') return no('Requests that name no timeline use main, so it cannot be ended.');
  if (timeline === 'system') return no('The service itself needs system, so it cannot be ended.');
  const level = session.body?.restriction_level;
  if (level === 'read_only' || level === 'no_access')
    return no('Your access is read-only. An operator can change that.');
  return YES;
}

/** Whether a bundle of the timeline may be downloaded: it shows everything, clocks and events too. */
export function mayExport(timeline: string): Right {
  if (timeline === 'system') return no('system holds data about this service itself, so it cannot be exported.');
  if (session.body?.restriction_level === 'no_access')
    return no("You don't have access to clocks and events, which a bundle holds. An operator can change that.");
  return YES;
}
