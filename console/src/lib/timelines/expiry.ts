/** Expiry choices for timelines, and their validation. */
import { fixedLengthIssue, readDuration } from '../time/duration';

/** Choices for a new timeline. An empty value means never. */
export const EXPIRIES = [
  ['', 'Never'],
  ['1h', 'In an hour'],
  ['1d', 'In a day'],
  ['1w', 'In a week'],
  ['30d', 'In 30 days'],
  ['other', 'Custom…'],
] as const;

const LONGEST_DAYS = 3_660n;
const SECOND = 1_000_000n;

/** Returns the error in an expiry duration, or null. */
export function expiryIssue(text: string): string | null {
  const issue = fixedLengthIssue(text);
  if (issue !== null) return issue;
  const read = readDuration(text);
  if (!read.ok) return read.problem;
  if (read.duration.micros < SECOND) return 'A timeline must last at least one second.';
  if (read.duration.micros > LONGEST_DAYS * 86_400n * SECOND)
    return `A timeline that expires can last at most ${LONGEST_DAYS.toLocaleString('en')} days.`;
  return null;
}
