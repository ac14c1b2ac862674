/** Holds on the clock, and their texts. */
import { SECOND } from '../time/instant';
import { durationWords } from '../time/duration';

export interface Hold {
  hold_id: string;
  /** The user who holds the clock. Only they can release it. */
  owner: string;
  /** Reason given by the owner. */
  reason: string;
  /** Host time. */
  expires_at: string;
}

/** Returns the holds that have not expired at a host time. */
export function activeHolds(holds: readonly Hold[], hostMs: number): Hold[] {
  return holds.filter(({ expires_at }) => Date.parse(expires_at) > hostMs);
}

/** Returns the remaining time of a hold, such as "1 minute 20 seconds left". */
export function leftText({ expires_at }: Hold, hostMs: number): string {
  const seconds = Math.max(1, Math.ceil((Date.parse(expires_at) - hostMs) / 1_000));
  return `${durationWords({ months: 0, micros: BigInt(seconds) * SECOND })} left`;
}

/** Returns the owners of holds: "you", "ada", "ada and bob", "ada, bob and 3 others". */
export function ownersText(holds: readonly Hold[], user: string | null): string {
  const names = [...new Set(holds.map(({ owner }) => (owner === user ? 'you' : owner)))];
  if (names.length <= 2) return names.join(' and ');
  const others = names.length - 2;
  return `${names.slice(0, 2).join(', ')} and ${others} other${others === 1 ? '' : 's'}`;
}
