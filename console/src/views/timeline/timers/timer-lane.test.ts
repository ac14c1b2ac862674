import { describe, expect, it } from 'vitest';
import { panned, scale, timeAt } from '../../../lib/chart/scale';
import { parse } from '../../../lib/time/instant';
import type { Firing, Timer } from '../../../lib/timers/timers';
import { TIMERS_HEIGHT } from '../axis/paint';
import { markText, marksOf, pickTimer, symbolsOf } from './timer-lane';

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

describe('timer lane', () => {
  it('has one mark per timer and time, the most specific one', () => {
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

  it('picks the mark under the pointer, only within the lane, and the topmost of a pixel', () => {
    const marks = marksOf([timer('armed', { next: FEB })], [], [firing('late', FEB, 'pending')], []);
    const view = scale(parse(FEB)!, 0, 3_600e6, 1_000);
    expect(timeAt(view, 500)).toBe(parse(FEB));
    const at = (x: number, y: number): string | undefined => pickTimer(marks, view, 200, { x, y })?.timerId;
    expect(at(502, 200 - TIMERS_HEIGHT / 2)).toBe('late');
    expect(at(502, 100)).toBeUndefined();
    expect(at(520, 190)).toBeUndefined();
  });

  it('merges overlapping marks into one symbol with a count, in the color of the most important mark', () => {
    const due = (hours: number): string => new Date(Date.parse(FEB) + hours * 3_600e3).toISOString();
    const armed = [0, 5, 10, 40, 200].map((hours) => timer(`t${hours}`, { next: due(hours) }));
    const marks = marksOf(armed, [], [firing('late', due(7), 'failed'), firing('seen', due(203), 'acknowledged')], []);
    const view = scale(parse(FEB)!, 0, 3_600e6, 1_000);
    const symbols = symbolsOf(marks, view);
    expect(symbols.map(({ mark, count, x }) => [mark.timerId, count, Math.round(x)])).toEqual([
      ['late', 4, 505],
      ['t40', 1, 540],
      ['t200', 2, 702],
    ]);
    // All marks are counted, no symbol overlaps another, and panning does not change the grouping.
    const many = marksOf(
      Array.from({ length: 120 }, (_, index) => timer(`m${index}`, { next: due(index * (1 + (index % 9))) })),
      [],
      [],
      [],
    );
    const found = symbolsOf(many, view);
    expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(120);
    found.slice(1).forEach((symbol, index) => {
      expect(symbol.x - symbol.half).toBeGreaterThanOrEqual(found[index]!.x + found[index]!.half);
    });
    expect(symbolsOf(many, panned(view, 317.25)).map(({ count }) => count)).toEqual(found.map(({ count }) => count));
    const under = pickTimer(marks, view, 200, { x: 498, y: 190 })!;
    expect(markText(under)).toMatch(/^Fired: 28 February 2027.* · failed · queue billing · and 3 more here$/);
  });

  it('excludes scheduled firings of a rule from the count', () => {
    const coming = [JAN, FEB].map((at) => ({ timer_id: 'daily', due: at, queue: 'billing' }));
    const marks = marksOf([timer('once', { next: FEB })], [], [], coming);
    const view = scale(parse(FEB)!, 0, 86_400e6, 1_000);
    expect(symbolsOf(marks, view).map(({ count }) => count)).toEqual([1]);
    expect(pickTimer(marks, view, 200, { x: 472, y: 190 })).toMatchObject({ timerId: 'daily', count: 1 });
    expect(pickTimer(marks, view, 200, { x: 501, y: 190 })).toMatchObject({ timerId: 'once', count: 1 });
  });

  it('describes the time and target of a firing', () => {
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
