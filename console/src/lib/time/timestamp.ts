/** Validates typed timestamps like the service, with suggested corrections. */
import { parse } from './instant';

/** A zone name suffix (RFC 9557). */
export const BRACKETS = /\[[^\]]*\]$/;
const DATE = /^([+-]\d{6}|\d{4})-\d{2}-\d{2}$/;
const ZONE = /(Z|[+-]\d{2}:?\d{2})$/i;
const SHORT_YEAR = /^-\d{4}-/;

/** Returns the error in a timestamp, or null. */
export function timestampIssue(text: string): string | null {
  const bare = text.trim().replace(BRACKETS, '');
  if (SHORT_YEAR.test(bare)) return `Years before 0 have six digits: -00${bare.slice(1)}`;
  if (DATE.test(bare)) return `Add a time and a zone: ${bare}T00:00:00Z`;
  if (parse(bare) !== null) return ZONE.test(bare.slice(10)) ? null : `Add a zone: ${bare}Z is UTC.`;
  return 'Write a date, a time and a zone, such as 2028-02-29T08:30:00Z.';
}
