/** The kinds of text that the API knows, checked as the service does, with what would be right. */
import { durationIssue } from '../../lib/duration';
import { parse } from '../../lib/instant';
import { BRACKETS, timestampIssue } from '../../lib/timestamp';

const isLikeDuration = (text: string): boolean => /^[+-]?(P|\d.*[wdhms]$)/.test(text);

/** Returns what is wrong with a range, or null. */
export function rangeIssue(text: string): string | null {
  const parts = splitRange(text);
  if (parts === null)
    return 'Write two ends with a slash between, such as 2028-02-01T00:00:00Z/2028-03-01T00:00:00Z; .. is an open end.';
  const [start, end] = parts;
  if (isLikeDuration(start) && isLikeDuration(end))
    return 'One end must be a moment; only the other may be a duration.';
  for (const [name, other, part] of [
    ['start', end, start],
    ['end', start, end],
  ] as const) {
    if (part === '') return `The ${name} is missing; .. leaves it open.`;
    if (part === '..') continue;
    if (isLikeDuration(part) && other === '..') return `The ${name} is a duration, so the other end must be a moment.`;
    const wrong = isLikeDuration(part) ? durationIssue(part) : timestampIssue(part);
    if (wrong !== null) return `The ${name}: ${wrong}`;
  }
  const from = parse(start.replace(BRACKETS, ''));
  const to = parse(end.replace(BRACKETS, ''));
  return from !== null && to !== null && to < from ? 'The end is before the start.' : null;
}

/** Returns the two ends of a range; a slash within a zone's brackets is none. */
export function splitRange(text: string): [string, string] | null {
  const hidden = text.replace(/\[[^\]]*\]/g, (zone) => zone.replaceAll('/', '\u0000'));
  const parts = hidden.split('/').map((part) => part.replaceAll('\u0000', '/').trim());
  const [from, to] = parts;
  return parts.length === 2 && from !== undefined && to !== undefined ? [from, to] : null;
}

/** Returns what is wrong with a text of a format, or null. Formats that nobody here knows forbid nothing. */
export function formatIssue(format: string, text: string): string | null {
  switch (format) {
    case 'timestamp':
    case 'expiry':
      return timestampIssue(text);
    case 'length-of-time':
      return durationIssue(text);
    case 'time-range':
      return rangeIssue(text);
    default:
      return null;
  }
}
