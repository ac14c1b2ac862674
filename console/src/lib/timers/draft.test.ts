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
