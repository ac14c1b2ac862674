/** What the user may do on a timeline, and why not. The service decides; this only keeps from offering what it would refuse. */
import { session } from './session.svelte';
import { timelines } from './timelines.svelte';

/** A thing that is offered, or the reason why it is not. */
export type Right = { may: true } | { may: false; why: string };

const YES: Right = { may: true };
const no = (why: string): Right => ({ may: false, why });

/** Whether the clock may be moved and anchors be set. */
export function mayMoveClock(timeline: string): Right {
  const level = session.body?.restriction_level;
  if (level === 'read_only') return no('Your time travel is restricted to looking. An operator can lift that.');
  if (level === 'no_access') return no('You may not look at clocks, nor move them. An operator can lift that.');
  return mayWrite(timeline);
}

/** Whether the pace of the clock may be changed: not with limited access. */
export function maySetRate(timeline: string): Right {
  if (session.body?.restriction_level === 'limited_access') return no('With limited access, the rate of a clock stays as it is.');
  return mayMoveClock(timeline);
}

/** Whether interventions may be made, dry runs included. */
export function mayIntervene(timeline: string): Right {
  if (session.body?.restriction_level === 'limited_access') return no('With limited access, history stays as it is: no interventions.');
  return mayMoveClock(timeline);
}

function mayWrite(timeline: string): Right {
  // Until the roles are known nothing is held back: the service refuses what must not be.
  if (session.isOperator || !timelines.isRead) return YES;
  const role = timelines.find(timeline)?.role;
  if (role === 'write' || role === 'admin' || role === 'operator') return YES;
  if (role === undefined) return YES;
  return no(`You may look at ${timeline}, not change it. Who administers it can let you write.`);
}
