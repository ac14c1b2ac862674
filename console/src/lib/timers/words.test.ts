import { describe, expect, it } from 'vitest';
import { scheduleOf } from './schedule-of';
import type { Firing, AdvanceReceipt, Timer, FiringForecast } from './timers';
import { firesText, heldText, isRepeating, receiptText, untilText } from './words';

const timer = (more: Partial<Timer>): Timer => ({
  timer_id: 'renew-42',
  position: 1,
  state: 'armed',
  deliver: { to: 'queue', queue: 'billing' },
  payload: null,
  round: 0,
  set_by: 'admin',
  set_at: '2027-01-01T00:00:00Z',
  ...more,
});
const would = (count: number, timers: number, complete = true): FiringForecast => ({
  to: '2027-02-01T00:00:00Z',
  count,
  complete,
  firings: [],
  timers: Array.from({ length: timers }, (_, index) => ({ timer_id: `t${index}`, count: 1 })),
});
const firing = (timer_id: string, due: string, state: string): Firing => ({
  firing_id: `firing_${timer_id}`,
  timer_id,
  due,
  round: 0,
  queue: 'billing',
  state,
});
const settled = (more: Partial<AdvanceReceipt>): AdvanceReceipt => ({
  state: 'running',
  advance_id: 'advance_1',
  from: '2027-01-01T00:00:00Z',
  to: '2027-02-01T00:00:00Z',
  reached: '2027-01-05T00:00:00Z',
  step: 2,
  fired: 0,
  acknowledged: 0,
  failed: 0,
  unacknowledged: 0,
  firings: [],
  ...more,
});

describe('timer schedule', () => {
  it('is a time, a rule or cron, with a zone unless it is UTC', () => {
    expect(scheduleOf(timer({ at: '2027-01-31T09:00:00Z' })).text).toBe('once');
    const every = { rule: 'FREQ=MONTHLY;BYMONTHDAY=-1', starts: '2027-01-01T00:00:00Z', zone: 'UTC' };
    const last = { text: 'every month on the last day', written: every.rule, isSentence: true };
    expect(scheduleOf(timer({ every }))).toEqual(last);
    const rule = 'FREQ=YEARLY;BYWEEKNO=3';
    const raw = { text: rule, written: rule, isSentence: false };
    expect(scheduleOf(timer({ every: { ...every, rule } }))).toEqual(raw);
    const cron = { expression: '0 9 * * MON-FRI', zone: 'Europe/Paris' };
    expect(scheduleOf(timer({ cron })).text).toBe('from Monday to Friday at 09:00 · Europe/Paris');
    expect([isRepeating(timer({})), isRepeating(timer({ cron }))]).toEqual([false, true]);
  });
});

describe('text of a clock move', () => {
  it('counts timers if each fires once, and firings otherwise', () => {
    expect(firesText(would(0, 0))).toBe('fires no timers');
    expect(firesText(would(1, 1))).toBe('fires 1 timer');
    expect(firesText(would(3, 3))).toBe('fires 3 timers');
    expect(firesText(would(22, 2))).toBe('fires 22 times, 2 timers');
    expect(firesText(would(1_000_001, 1, false))).toBe('fires more than 1,000,001 times, 1 timer');
  });
});

describe('advance', () => {
  it('has a receipt with the outcomes that occurred', () => {
    expect(receiptText(settled({}))).toBe('No timer fired.');
    const some = settled({ fired: 4, acknowledged: 2, failed: 1, unacknowledged: 1 });
    expect(receiptText(some)).toBe('4 firings at 2 instants: 2 acknowledged, 1 failed, 1 not acknowledged yet.');
    expect(receiptText(settled({ fired: 1, step: 1 }))).toBe('1 firing at 1 instant.');
  });

  it('waits for firings without outcome at its current instant', () => {
    expect(heldText(settled({ fired: 1, acknowledged: 1 }))).toBeNull();
    const firings = [
      firing('unacknowledged', '2027-01-02T00:00:00Z', 'pending'),
      firing('done', '2027-01-05T00:00:00Z', 'acknowledged'),
      firing('renew', '2027-01-05T00:00:00Z', 'pending'),
    ];
    expect(heldText(settled({ fired: 3, acknowledged: 1, firings }))).toBe('renew in queue billing');
    // A receipt contains only the first hundred firings.
    expect(heldText(settled({ fired: 140, acknowledged: 100 }))).toBe('40 firings');
  });
});

it.each([
  ['in 1 second', 0.4],
  ['in 59 seconds', 59],
  ['in 1 hour', 3_600],
  ['in 90 minutes', 5_400],
  ['in 23 hours', 82_800],
  ['in 13 days', 1_123_200],
  ['in 5 weeks', 33.5 * 86_400],
  ['in 8 months', 234 * 86_400],
  ['in 1 year', 365 * 86_400],
  ['in 72 years', 72 * 31_556_952],
])('says in whole units how long it is: %s', (expected, seconds) => {
  expect(untilText(BigInt(seconds * 1_000_000))).toBe(expected);
});
