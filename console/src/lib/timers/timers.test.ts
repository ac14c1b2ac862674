import { describe, expect, it } from 'vitest';
import { canBeRedelivered, type Firing } from './timers';

const FAILED: Firing = {
  firing_id: 'firing_1',
  timer_id: 'renew-42',
  due: '2027-01-31T09:00:00Z',
  round: 0,
  queue: 'billing',
  state: 'failed',
};

describe('redelivery of a firing', () => {
  it('is possible after a failed delivery to a worker or webhook', () => {
    expect(canBeRedelivered(FAILED, [FAILED])).toBe(true);
    for (const state of ['pending', 'acknowledged', 'superseded'])
      expect(canBeRedelivered({ ...FAILED, state }, [])).toBe(false);
    expect(canBeRedelivered({ ...FAILED, queue: null }, [])).toBe(false);
  });

  it('is possible only for the latest round of a due time', () => {
    const again = { ...FAILED, firing_id: 'firing_2', round: 1, state: 'pending' };
    expect(canBeRedelivered(FAILED, [again, FAILED])).toBe(false);
    expect(canBeRedelivered({ ...again, state: 'failed' }, [again, FAILED])).toBe(true);
    expect(canBeRedelivered(FAILED, [{ ...again, due: '2027-02-28T09:00:00Z' }, FAILED])).toBe(true);
  });
});
