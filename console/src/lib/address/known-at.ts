/** Moments in the life of a ledger, as the service takes them in `as_of`. */
import { format, parse } from '../time/instant';

/** Returns a host time, a position or the id of an anchor as the service takes it; null for anything else. */
export function knownAt(text: string | null): string | null {
  if (text === null) return null;
  if (/^(\d{1,15}|anchor_\w+)$/.test(text)) return text;
  const time = parse(text);
  return time === null ? null : format(time);
}
