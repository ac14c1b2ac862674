/** Holds on the clock, and their texts. */
import { SECOND } from '../time/instant';
import { durationWords } from '../time/duration';

export interface Hold {
  hold_id: string;
  /** The user who holds the clock, and who alone may release it. */
  owner: string;
  /** Why, in their words. */
  reason: string;
  /** Host time. */
  expires_at: string;
}

/** Returns those that have not ended by a moment of host time, the one that ends next first. */
export function activeHolds(holds: readonly Hold[], hostMs: number): Hold[] {
  return holds.filter(({ expires_at }) => Date.parse(expires_at) > hostMs);
}

/** Returns how long a hold lasts from a moment of host time on, such as "1 minute 20 seconds left". */
export function leftText({ expires_at }: Hold, hostMs: number): string {
  const seconds = Math.max(1, Math.ceil((Date.parse(expires_at) - hostMs) / 1_000));
  return `${durationWords({ months: 0, micros: BigInt(seconds) * SECOND })} left`;
}

/** Returns whose holds these are, in words: "you", "ada", "ada and bob", "ada, bob and 3 others". */
export function ownersText(holds: readonly Hold[], user: string | null): string {
  const names = [...new Set(holds.map(({ owner }) => (owner === user ? 'you' : owner)))];
  if (names.length <= 2) return names.join(' and ');
  const others = names.length - 2;
  return `${names.slice(0, 2).join(', ')} and ${others} other${others === 1 ? '' : 's'}`;
}
