/**
 * What an operation needs of who asks for it: the table of the API's design, for a warning before the service refuses.
 */
import type { RestrictionLevel } from '../../lib/session.svelte';
import type { Operation } from './openapi';

type Need = 'read' | 'write' | 'admin' | 'operator' | 'known' | 'nobody';

const WRITE = [
  'travel',
  'pause-time',
  'resume-time',
  'fast-forward',
  'advance-to-next',
  'spend',
  'rewind',
  'set-rate',
  'set-anchor',
  'return-to-anchor',
  'import-events',
  'correct-event',
  'manipulate-event',
  'encrypt-data',
  'POST /v1/events',
];
const ADMIN = [
  'set-access-control',
  'access-control',
  'access-logs',
  'erase-data',
  'erase-events',
  'erase-reads',
  'set-retention',
  'prune',
  'timeline/{timeline_id}/bundle',
  'DELETE /timeline/{timeline_id}',
];
const OPERATOR = ['restrict-time-travel', 'restrictions', 'users', 'users/{user_id}'];
const KNOWN = [
  'api-keys',
  'api-keys/{key_id}',
  'timelines',
  'sessions',
  'sessions/{session_id}',
  'log-out',
  'set-password',
];

/** Returns the role that an operation needs on the timeline it is about. */
export function needOf(operation: Operation): Need {
  const is = (names: string[]): boolean =>
    names.includes(operation.name) || names.includes(`${operation.method} ${operation.path}`);
  if (operation.isOpen || operation.name === 'limits') return 'nobody';
  if (is(OPERATOR)) return 'operator';
  if (is(ADMIN)) return 'admin';
  if (is(WRITE)) return 'write';
  return is(KNOWN) ? 'known' : 'read';
}

const ROLES = ['read', 'write', 'admin', 'operator'];

const MOVES_CLOCK = [
  'travel',
  'pause-time',
  'resume-time',
  'fast-forward',
  'advance-to-next',
  'spend',
  'rewind',
  'set-rate',
  'set-anchor',
  'return-to-anchor',
];

/** Returns why the service will refuse, in a sentence, or null where nothing is known to speak against it. */
export function refusalOf(
  operation: Operation,
  who: { role: string | undefined; timeline: string; isOperator: boolean; level: RestrictionLevel | null },
): string | null {
  const touches = MOVES_CLOCK.includes(operation.name) || operation.name === 'manipulate-event';
  if (touches && (who.level === 'read_only' || who.level === 'no_access'))
    return 'Your access is read-only: you can read clocks and events, but not change them.';
  if (who.level === 'no_access' && ['clock', 'events', 'anchors', 'paradoxes'].includes(operation.tag))
    return "You don't have access to clocks and events.";
  if (who.level === 'limited_access' && ['set-rate', 'manipulate-event'].includes(operation.name))
    return 'Your access is limited to moments near host time and does not include this.';
  const need = needOf(operation);
  if (who.isOperator || need === 'known' || need === 'nobody') return null;
  if (need === 'operator') return 'Only operators of the service can use this.';
  if (who.role === undefined || ROLES.indexOf(who.role) >= ROLES.indexOf(need)) return null;
  return `This needs ${need} on ${who.timeline}; you have ${who.role}.`;
}
