import { describe, expect, it } from 'vitest';
import { parse } from '../instant';
import { EMPTY, bodyOf, type TimerDraft } from './draft';

const NOW = parse('2027-01-01T00:00:00Z')!;
const made = (more: Partial<TimerDraft>): ReturnType<typeof bodyOf> => bodyOf({ ...EMPTY, ...more }, NOW);

describe('a timer that is asked for', () => {
  it('fires at a moment, or at one counted from the clock', () => {
    expect(made({ at: '2027-01-31T09:00:00Z', timerId: ' renew-42 ', queue: 'billing' })).toEqual({
      body: { at: '2027-01-31T09:00:00Z', timer_id: 'renew-42', deliver: { to: 'queue', queue: 'billing' } },
    });
    expect(made({ at: '+1d' })).toEqual({ body: { at: '2027-01-02T00:00:00Z' } });
  });

  it('fires by a rule or by cron, in a zone', () => {
    const rule = { kind: 'every', rule: 'FREQ=DAILY', starts: '2027-02-01', zone: 'Europe/Paris' } as const;
    expect(made({ ...rule, misfire: 'once', catchUp: true })).toEqual({
      body: {
        every: { rule: 'FREQ=DAILY', starts: '2027-02-01T00:00:00Z', zone: 'Europe/Paris' },
        misfire: 'once',
        catch_up: true,
      },
    });
    expect(made({ kind: 'cron', expression: '0 9 * * MON-FRI', zone: '' })).toEqual({
      body: { cron: { expression: '0 9 * * MON-FRI' } },
    });
  });

  it('leaves out what belongs to another kind', () => {
    expect(made({ at: '2027-02-01T00:00:00Z', rule: 'FREQ=DAILY', misfire: 'skip', catchUp: true })).toEqual({
      body: { at: '2027-02-01T00:00:00Z' },
    });
  });

  it('carries any JSON, and says what is none', () => {
    expect(made({ at: '+1d', payload: '{"invoice": 42}' })).toMatchObject({ body: { payload: { invoice: 42 } } });
    const wrong = made({ at: '+1d', payload: 'renew' });
    expect('wrong' in wrong && wrong.wrong.payload).toContain('JSON');
  });

  it('records an event, and hands nothing to a worker then', () => {
    const event = { to: 'timeline', at: '2027-02-01T00:00:00Z', name: ' Trial ends ' } as const;
    const queued = { queue: 'billing', payload: 'no JSON', orderKey: 'customer-7' };
    expect(made({ ...event, ...queued, actors: ['customer-7'], attributes: '{"plan": "yearly"}' })).toEqual({
      body: {
        at: '2027-02-01T00:00:00Z',
        deliver: {
          to: 'timeline',
          event: { name: 'Trial ends', actors: ['customer-7'], attributes: { plan: 'yearly' } },
        },
      },
    });
    // And the other way round.
    expect(made({ at: '2027-02-01T00:00:00Z', name: 'Trial ends', attributes: '[]' })).toEqual({
      body: { at: '2027-02-01T00:00:00Z' },
    });
    for (const [more, field] of [
      [{ name: ' ' }, 'name'],
      [{ name: 'Trial ends', attributes: '[1]' }, 'attributes'],
      [{ name: 'Trial ends', attributes: '{' }, 'attributes'],
    ] as const) {
      const read = made({ to: 'timeline', at: '+1d', ...more });
      expect('wrong' in read && Object.keys(read.wrong)).toEqual([field]);
    }
  });

  it('is not sent without a moment or a rule', () => {
    for (const [more, field] of [
      [{}, 'at'],
      [{ kind: 'every' }, 'rule'],
      [{ kind: 'every', rule: 'FREQ=DAILY', starts: 'soon' }, 'starts'],
      [{ kind: 'cron' }, 'expression'],
    ] as const) {
      const read = made(more);
      expect('wrong' in read && Object.keys(read.wrong)).toEqual([field]);
    }
  });
});
