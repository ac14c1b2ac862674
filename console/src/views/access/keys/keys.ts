/** Scopes and state of API keys. */
import { format } from '../../../lib/time/instant';
import type { ApiKey } from '../access';

/** Scopes. Each one includes those before it. */
export const SCOPES: readonly { id: string; title: string; means: string }[] = [
  { id: '', title: 'Everything', means: 'everything its user can do, now and later' },
  { id: 'timeline:read', title: 'Read', means: 'read timelines, change nothing' },
  { id: 'timeline:write', title: 'Write', means: 'move clocks, record events, intervene' },
  { id: 'timeline:admin', title: 'Admin', means: 'permissions, access log and erasure too' },
  { id: 'operator', title: 'Operator', means: 'users, keys and restrictions too' },
];

export const EXPIRIES: readonly { id: string; title: string; days: number | null }[] = [
  { id: '30', title: 'in 30 days', days: 30 },
  { id: '7', title: 'in 7 days', days: 7 },
  { id: '90', title: 'in 90 days', days: 90 },
  { id: '365', title: 'in a year', days: 365 },
  { id: 'never', title: 'never', days: null },
];

/** Returns the host time `days` after `nowMs` in API format. */
export function inDays(days: number, nowMs: number): string {
  return format(BigInt(Math.floor(nowMs / 1_000)) * 1_000_000n + BigInt(days) * 86_400_000_000n);
}

type KeyState = 'works' | 'expired' | 'revoked';

export function stateOf(key: ApiKey, nowMs: number): KeyState {
  if (key.revoked_at) return 'revoked';
  return key.expires_at && Date.parse(key.expires_at) <= nowMs ? 'expired' : 'works';
}

/** Describes the scopes of a key. */
export function scopeText(scopes: readonly string[] | null | undefined): string {
  if (!scopes) return 'Everything';
  return (
    SCOPES.filter(({ id }) => scopes.includes(id))
      .map(({ title }) => title)
      .at(-1) ?? 'Nothing'
  );
}
