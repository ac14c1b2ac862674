/** What the user may do on a timeline, and if not, why not. */
import { session } from '../../lib/session.svelte';
import { timelines } from '../../lib/timelines.svelte';

export interface Allowed {
  isAllowed: boolean;
  /** Why not, as a sentence. */
  reason: string;
}

const YES: Allowed = { isAllowed: true, reason: '' };
const no = (reason: string): Allowed => ({ isAllowed: false, reason });

function level(): string {
  return session.body?.restriction_level ?? 'full_access';
}

const restricted = (what: string): Allowed => no(`Your time travel is restricted to ${level().replace('_', ' ')}: ${what}`);

/** Whether events may be recorded and corrected. */
export function mayWrite(timeline: string): Allowed {
  if (timeline === 'system') return no('The timeline system is kept by the service itself.');
  const role = timelines.find(timeline)?.role;
  const has = session.isOperator || role === 'write' || role === 'admin' || role === 'operator';
  if (!has) return no('You may read this timeline, but not write to it.');
  return level() === 'read_only' || level() === 'no_access' ? restricted('you may look, but not record, change or travel.') : YES;
}

/** Whether events may be changed by an intervention, or taken back to an anchor. */
export function mayIntervene(timeline: string): Allowed {
  const write = mayWrite(timeline);
  if (!write.isAllowed) return write;
  return level() === 'full_access' ? YES : restricted('you may not change what happened.');
}

/** Whether the clock may be moved. With limited access that depends on where to; the service decides. */
export function mayTravel(timeline: string): Allowed {
  return mayWrite(timeline);
}

/** Whether timelines may be made. */
export function mayFork(): Allowed {
  return level() === 'read_only' || level() === 'no_access' ? restricted('you may not make timelines.') : YES;
}
