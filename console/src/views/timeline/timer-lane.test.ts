import { describe, expect, it } from 'vitest';
import { scale, timeAt } from '../../lib/events/scale';
import { parse } from '../../lib/instant';
import type { Firing, Timer } from '../../lib/timers/timers';
import { TIMERS_HEIGHT } from './paint';
import { markText, marksOf, pickTimer } from './timer-lane';

const timer = (timer_id: string, more: Partial<Timer>): Timer => ({
  timer_id,
  position: 1,
  state: 'armed',
  deliver: { to: 'queue', queue: 'billing' },
  payload: null,
  round: 0,
  set_by: 'admin',
  set_at: '2027-01-01T00:00:00Z',
  ...more,
});
const firing = (timer_id: string, due: string, state: string): Firing => ({
  firing_id: `${timer_id} ${due}`,
  timer_id,
  due,
  round: 0,
  queue: 'billing',
  state,
});
const [JAN, FEB, MAR] = ['2027-01-31T00:00:00Z', '2027-02-28T00:00:00Z', '2027-03-31T00:00:00Z'] as const;

describe('the lane of timers', () => {
  it('has one mark a moment of a timer, that which says most', () => {
    const armed = [timer('monthly', { next: FEB })];
    const done = [timer('once', { state: 'done', at: JAN }), timer('seen', { state: 'done', at: JAN })];
    const firings = [firing('monthly', JAN, 'failed'), firing('seen', JAN, 'acknowledged')];
    const coming = [FEB, MAR].map((due) => ({ timer_id: 'monthly', due, queue: 'billing' }));
    expect(marksOf(armed, done, firings, coming).map(({ timerId, kind }) => `${timerId} ${kind}`)).toEqual([
      'monthly failed',
      'seen acknowledged',
      'once fired',
      'monthly armed',
      'monthly coming',
    ]);
  });

  it('finds the mark under the pointer, in its lane only, and on one pixel the one on top', () => {
    const marks = marksOf([timer('armed', { next: FEB })], [], [firing('late', FEB, 'pending')], []);
    const view = scale(parse(FEB)!, 0, 3_600e6, 1_000);
    expect(timeAt(view, 500)).toBe(parse(FEB));
    const at = (x: number, y: number): string | undefined => pickTimer(marks, view, 200, { x, y })?.timerId;
    expect(at(502, 200 - TIMERS_HEIGHT / 2)).toBe('late');
    expect(at(502, 100)).toBeUndefined();
    expect(at(520, 190)).toBeUndefined();
  });

  it('says when and where it fires or has fired', () => {
    const [armed] = marksOf([timer('a', { next: FEB })], [], [], []);
    expect(markText(armed!)).toBe('Fires next: 28 February 2027 · queue billing');
    const [failed] = marksOf([], [], [firing('a', JAN, 'failed')], []);
    expect(markText(failed!)).toBe('Fired: 31 January 2027 · failed · queue billing');
    const recorded = { ...firing('a', JAN, 'acknowledged'), queue: null };
    const [past, next] = marksOf([timer('a', { next: FEB, deliver: { to: 'timeline' } })], [], [recorded], []);
    expect(markText(past!)).toBe('Fired: 31 January 2027 · recorded an event');
    expect(markText(next!)).toBe('Fires next: 28 February 2027 · records an event');
  });
});
