/** Texts about timers and firings. */
import { countText } from '../events/words';
import { DAY, HOUR, MINUTE, SECOND } from '../time/instant';
import type { AdvanceReceipt, Timer, FiringForecast } from './timers';

const UNITS: readonly [name: string, micros: bigint][] = [
  ['year', 31_556_952n * SECOND],
  ['month', 2_629_746n * SECOND],
  ['week', 7n * DAY],
  ['day', DAY],
  ['hour', HOUR],
  ['minute', MINUTE],
];

/**
 * Returns the time until an instant in whole units, such as "in 5 weeks", in the largest unit that yields at least 2 or
 * exactly 1.
 */
export function untilText(remaining: bigint): string {
  const found = UNITS.find(([, unit]) => {
    const count = Number(remaining) / Number(unit);
    return count >= 1.95 || Math.abs(count - 1) < 0.005;
  });
  const [name, unit] = found ?? ['second', SECOND];
  const count = Math.max(1, Math.round(Number(remaining) / Number(unit)));
  return `in ${countText(count, name)}`;
}

/** Whether a timer repeats. */
export const isRepeating = (timer: Timer): boolean => Boolean(timer.every ?? timer.cron);

/** Returns the number of timers that a move would fire, to follow its destination. */
export function firesText({ count, complete, timers }: FiringForecast): string {
  if (count === 0) return 'fires no timers';
  const number = `${complete ? '' : 'more than '}${count.toLocaleString('en')}`;
  if (count === 1 && complete) return 'fires 1 timer';
  return timers.length === count
    ? `fires ${number} timers`
    : `fires ${number} times, ${countText(timers.length, 'timer')}`;
}

/** Status of a firing or an advance: a word and its badge style. */
interface StatusText {
  word: string;
  tone: 'good' | 'warn' | 'bad' | 'now' | '';
}

const FIRINGS: Record<string, StatusText> = {
  pending: { word: 'waiting', tone: 'warn' },
  acknowledged: { word: 'acknowledged', tone: 'good' },
  failed: { word: 'failed', tone: 'bad' },
  superseded: { word: 'superseded', tone: '' },
};

export const firingStatus = (state: string): StatusText => FIRINGS[state] ?? { word: state, tone: '' };

const ADVANCES: Record<AdvanceReceipt['state'], StatusText> = {
  running: { word: 'Advancing', tone: 'now' },
  settled: { word: 'Settled', tone: 'good' },
  stopped: { word: 'Stopped', tone: 'warn' },
  stuck: { word: 'Stuck', tone: 'bad' },
};

export const advanceStatus = (state: AdvanceReceipt['state']): StatusText => ADVANCES[state];

/** Returns the counts of a receipt as a sentence. */
export function receiptText({ fired, acknowledged, failed, unacknowledged, step }: AdvanceReceipt): string {
  if (fired === 0) return 'No timer fired.';
  const parts = [
    [acknowledged, 'acknowledged'],
    [failed, 'failed'],
    [unacknowledged, 'not acknowledged yet'],
  ] as const;
  const countTexts = parts
    .filter(([count]) => count > 0)
    .map(([count, word]) => `${count.toLocaleString('en')} ${word}`);
  const outcome = countTexts.length === 0 ? '' : `: ${countTexts.join(', ')}`;
  return `${countText(fired, 'firing')} at ${countText(step, 'instant')}${outcome}.`;
}

/**
 * Returns the queues with pending firings that a running advance waits for, as far as known; null if it waits for none.
 */
export function heldText({ firings, fired, acknowledged, failed }: AdvanceReceipt): string | null {
  const open = fired - acknowledged - failed;
  if (open <= 0) return null;
  const waiting = firings.filter(({ state }) => state === 'pending');
  const last = waiting.filter(({ due }) => due === waiting.at(-1)?.due);
  if (last.length === 0) return countText(open, 'firing');
  const names = last.slice(0, 3).map(({ timer_id, queue }) => (queue ? `${timer_id} in queue ${queue}` : timer_id));
  return names.join(', ') + (last.length > 3 ? ` and ${last.length - 3} more` : '');
}
