/** Values of the service's `as_of` parameter. */
import { format, parse } from '../time/instant';

/** Returns a host time, a position or an anchor ID in the form that `as_of` takes, or null for any other text. */
export function knownAt(text: string | null): string | null {
  if (text === null) return null;
  if (/^(\d{1,15}|anchor_\w+)$/.test(text)) return text;
  const time = parse(text);
  return time === null ? null : format(time);
}
