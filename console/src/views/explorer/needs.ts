/**
 * The role that an operation needs, so that the explorer can warn before the service rejects it. The list is in
 * `roles.snap` of the service.
 */
import type { RestrictionLevel } from '../../lib/session/session.svelte';
import type { Operation } from './openapi';

type Need = 'read' | 'write' | 'admin' | 'operator' | 'known' | 'public';

/** All other operations need `read` for GET and `write` otherwise. */
const NEEDS: Partial<Record<Need, string>> = {
  public: 'limits log_in session',
  known: 'api_keys create_api_key revoke_api_key timelines create_timeline sessions end_session log_out set_password',
  read: 'scan_events detect_tampering decrypt_data confirm_clock',
  admin:
    'set_access_control access_control access_logs erase_data erase_events erase_reads set_retention prune bundle ' +
    'end_timeline',
  operator: 'restrict_time_travel restrictions users create_user delete_user',
};

export function needOf({ id, method, isOpen }: Operation): Need {
  const named = Object.entries(NEEDS).find(([, ids]) => ids.split(' ').includes(id))?.[0] as Need | undefined;
  return isOpen ? 'public' : (named ?? (method === 'GET' ? 'read' : 'write'));
}

const ROLES = ['read', 'write', 'admin', 'operator'];

/** Returns why the service will reject a request, or null if no reason is known. */
export function missingRight(
  operation: Operation,
  user: { role: string | undefined; timeline: string; isOperator: boolean; level: RestrictionLevel | null },
): string | null {
  const { id, tag } = operation;
  const need = needOf(operation);
  if (need === 'write' && (user.level === 'read_only' || user.level === 'no_access'))
    return 'Your access is read-only: you can read clocks and events, but not change them.';
  if (user.level === 'no_access' && ['clock', 'events', 'anchors', 'paradoxes', 'timers'].includes(tag))
    return "You don't have access to clocks and events.";
  if (
    user.level === 'limited_access' &&
    ['set_rate', 'manipulate_event', 'undo_import', 'return_to_anchor'].includes(id)
  )
    return 'Your access is limited to moments near host time and does not include this.';
  if (user.isOperator || need === 'known' || need === 'public') return null;
  if (need === 'operator') return 'Only operators of the service can use this.';
  if (user.role === undefined || ROLES.indexOf(user.role) >= ROLES.indexOf(need)) return null;
  return `This needs ${need} on ${user.timeline}; you have ${user.role}.`;
}
