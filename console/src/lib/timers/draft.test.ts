import { describe, expect, it } from 'vitest';
import { parse } from '../time/instant';
import { EMPTY, bodyOf, changesOf, draftOf, type TimerDraft } from './draft';
import type { Timer } from './timers';

const NOW = parse('2027-01-01T00:00:00Z')!;
const bodyWith = (more: Partial<TimerDraft>): ReturnType<typeof bodyOf> => bodyOf({ ...EMPTY, ...more }, NOW);

describe('new timer', () => {
  it('fires at a time, absolute or relative to the clock', () => {
    expect(bodyWith({ at: '2027-01-31T09:00:00Z', timerId: ' renew-42 ', queue: 'billing' })).toEqual({
      body: { at: '2027-01-31T09:00:00Z', timer_id: 'renew-42', deliver: { to: 'queue', queue: 'billing' } },
    });
    expect(bodyWith({ at: '+1d' })).toEqual({ body: { at: '2027-01-02T00:00:00Z' } });
  });

  it('fires by a rule or cron expression, in a zone', () => {
    const rule = { kind: 'every', rule: 'FREQ=DAILY', starts: '2027-02-01', zone: 'Europe/Paris' } as const;
    expect(bodyWith({ ...rule, misfire: 'once', catchUp: true })).toEqual({
      body: {
        every: { rule: 'FREQ=DAILY', starts: '2027-02-01T00:00:00Z', zone: 'Europe/Paris' },
        misfire: 'once',
        catch_up: true,
      },
    });
    expect(bodyWith({ kind: 'cron', expression: '0 9 * * MON-FRI', zone: '' })).toEqual({
      body: { cron: { expression: '0 9 * * MON-FRI' } },
    });
  });

  it('omits fields of other kinds', () => {
    expect(bodyWith({ at: '2027-02-01T00:00:00Z', rule: 'FREQ=DAILY', misfire: 'skip', catchUp: true })).toEqual({
      body: { at: '2027-02-01T00:00:00Z' },
    });
  });

  it('accepts any JSON payload and rejects invalid JSON', () => {
    expect(bodyWith({ at: '+1d', payload: '{"invoice": 42}' })).toMatchObject({ body: { payload: { invoice: 42 } } });
    const wrong = bodyWith({ at: '+1d', payload: 'renew' });
    expect('wrong' in wrong && wrong.wrong.payload).toContain('JSON');
  });

  it('records an event without a queue or payload', () => {
    const event = { to: 'timeline', at: '2027-02-01T00:00:00Z', name: ' Trial ends ' } as const;
    const queued = { queue: 'billing', payload: 'no JSON', orderKey: 'customer-7' };
    expect(bodyWith({ ...event, ...queued, actors: ['customer-7'], attributes: '{"plan": "yearly"}' })).toEqual({
      body: {
        at: '2027-02-01T00:00:00Z',
        deliver: {
          to: 'timeline',
          event: { name: 'Trial ends', actors: ['customer-7'], attributes: { plan: 'yearly' } },
        },
      },
    });
    // And in the opposite direction.
    expect(bodyWith({ at: '2027-02-01T00:00:00Z', name: 'Trial ends', attributes: '[]' })).toEqual({
      body: { at: '2027-02-01T00:00:00Z' },
    });
    for (const [more, field] of [
      [{ name: ' ' }, 'name'],
      [{ name: 'Trial ends', attributes: '[1]' }, 'attributes'],
      [{ name: 'Trial ends', attributes: '{' }, 'attributes'],
    ] as const) {
      const read = bodyWith({ to: 'timeline', at: '+1d', ...more });
      expect('wrong' in read && Object.keys(read.wrong)).toEqual([field]);
    }
  });

  it('requires a time or a rule', () => {
    for (const [more, field] of [
      [{}, 'at'],
      [{ kind: 'every' }, 'rule'],
      [{ kind: 'every', rule: 'FREQ=DAILY', starts: 'soon' }, 'starts'],
      [{ kind: 'cron' }, 'expression'],
    ] as const) {
      const read = bodyWith(more);
      expect('wrong' in read && Object.keys(read.wrong)).toEqual([field]);
    }
  });
});

describe('changed timer', () => {
  const TIMER: Timer = {
    timer_id: 'renew-42',
    position: 7,
    state: 'armed',
    next: '2027-01-31T09:00:00Z',
    at: '2027-01-31T09:00:00Z',
    deliver: { to: 'queue', queue: 'billing' },
    payload: { invoice: 42 },
    order_key: 'customer-7',
    round: 0,
    set_by: 'ada',
    set_at: '2027-01-01T00:00:00Z',
  };
  const change = (timer: Timer, more: Partial<TimerDraft>): ReturnType<typeof bodyOf> =>
    changesOf(timer, { ...draftOf(timer), ...more }, NOW);
  const rule = { rule: 'FREQ=MONTHLY;BYMONTHDAY=-1', starts: '2027-01-31T09:00:00Z', zone: 'Europe/Paris' };
  const repeating: Timer = { ...TIMER, at: null, every: rule, misfire: 'once' };

  it('sends only changed fields', () => {
    expect(change(TIMER, {})).toEqual({ body: {} });
    expect(change(repeating, {})).toEqual({ body: {} });
    expect(change(TIMER, { at: '2027-02-28T09:00:00Z' })).toEqual({ body: { at: '2027-02-28T09:00:00Z' } });
    expect(change(TIMER, { payload: '{"invoice": 43}' })).toEqual({ body: { payload: { invoice: 43 } } });
    expect(change(TIMER, { orderKey: 'customer-8' })).toEqual({ body: { order_key: 'customer-8' } });
    expect(change(TIMER, { orderKey: ' ' })).toEqual({ body: { order_key: null } });
    expect(change(TIMER, { queue: ' ' })).toEqual({ body: { deliver: { to: 'queue' } } });
    expect(change(TIMER, { queue: 'mail' })).toEqual({ body: { deliver: { to: 'queue', queue: 'mail' } } });
  });

  it('keeps unchanged parts of its schedule', () => {
    expect(change(repeating, { misfire: 'all' })).toEqual({ body: { every: rule } });
    expect(change(repeating, { zone: 'Asia/Tokyo' })).toEqual({
      body: { every: { ...rule, zone: 'Asia/Tokyo' }, misfire: 'once' },
    });
    expect(change(repeating, { kind: 'cron', expression: '0 9 * * *' })).toEqual({
      body: { cron: { expression: '0 9 * * *', zone: 'Europe/Paris' }, misfire: 'once' },
    });
  });

  it('keeps event fields that the form does not show', () => {
    const event = { name: 'Trial ends', location: 'Paris', tags: ['trial'], source: 'shop' };
    const recording: Timer = { ...TIMER, payload: null, order_key: null, deliver: { to: 'timeline', event } };
    expect(change(recording, {})).toEqual({ body: {} });
    expect(change(recording, { name: 'It ends', location: '' })).toEqual({
      body: { deliver: { to: 'timeline', event: { name: 'It ends', tags: ['trial'], source: 'shop' } } },
    });
    expect(change(TIMER, { to: 'timeline', name: 'Trial ends' })).toEqual({
      body: { deliver: { to: 'timeline', event: { name: 'Trial ends' } } },
    });
  });

  it('keeps its webhook, whose secret is unknown', () => {
    const hook: Timer = { ...TIMER, deliver: { to: 'webhook', url: 'https://hooks.example.com/timenav' } };
    expect(change(hook, { at: '2027-02-28T09:00:00Z' })).toEqual({ body: { at: '2027-02-28T09:00:00Z' } });
  });

  it('reports invalid fields and fields that cannot be removed', () => {
    for (const [more, field] of [
      [{ at: 'soon' }, 'at'],
      [{ payload: '' }, 'payload'],
    ] as const) {
      const read = change(TIMER, more);
      expect('wrong' in read && Object.keys(read.wrong)).toEqual([field]);
    }
  });
});
