import { expect, test } from 'vitest';
import type { Timer } from '../../lib/timers/timers';
import { timerText, timerDifferences } from './timer-text';

const timer = (changed: Partial<Timer> = {}): Timer => ({
  timer_id: 'renew',
  position: 3,
  state: 'armed',
  next: '2027-01-31T09:00:00Z',
  every: { rule: 'FREQ=DAILY', starts: '2027-01-01T09:00:00Z', zone: 'UTC' },
  deliver: { to: 'queue', queue: 'billing' },
  payload: null,
  round: 0,
  set_by: 'admin',
  set_at: '2026-05-01T12:00:00Z',
  ...changed,
});

test('a timer is described by its next firing or its end', () => {
  expect(timerText(timer())).toBe('31 January 2027, 09:00, every day');
  expect(timerText(timer({ every: null, at: '2027-01-31T09:00:00Z' }))).toBe('31 January 2027, 09:00');
  expect(timerText(timer({ state: 'cancelled', next: null }))).toBe('cancelled');
});

test('the differing fields are listed', () => {
  expect(timerDifferences(timer(), timer({ round: 1, position: 9 }))).toBe('');
  expect(timerDifferences(timer(), timer({ next: '2027-02-01T09:00:00Z', payload: { plan: 'gold' } }))).toBe(
    'next firing, payload',
  );
  expect(timerDifferences(timer(), timer({ state: 'done', next: null }))).toBe('state');
});
