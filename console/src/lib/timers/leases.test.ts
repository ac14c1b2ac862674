import { describe, expect, it } from 'vitest';
import { leftText, ownersText, standing, type Lease } from './leases';

const AT = Date.UTC(2027, 0, 1, 8);
const lease = (owner: string, seconds: number): Lease => ({
  lease_id: `lease_${owner}_${seconds}`,
  owner,
  reason: 'looking at the invoices',
  until: new Date(AT + seconds * 1_000).toISOString(),
});

describe('leases', () => {
  it('stand until they end', () => {
    const [ended, ends, stands] = [lease('ada', -1), lease('ada', 0), lease('bob', 1)];
    expect(standing([ended, ends, stands], AT)).toEqual([stands]);
  });

  it('say how long they last, and never that no time is left while they stand', () => {
    expect(leftText(lease('ada', 600), AT)).toBe('10 minutes left');
    expect(leftText(lease('ada', 80), AT)).toBe('1 minute 20 seconds left');
    expect(leftText(lease('ada', 80), AT + 79_999)).toBe('1 second left');
    expect(leftText(lease('ada', 80), AT + 90_000)).toBe('1 second left');
  });

  it('say whose they are, each once', () => {
    expect(ownersText([lease('ada', 1)], 'ada')).toBe('you');
    expect(ownersText([lease('ada', 1), lease('ada', 2), lease('bob', 3)], 'bob')).toBe('ada and you');
    const many = ['ada', 'bob', 'cem', 'dee'].map((owner) => lease(owner, 1));
    expect(ownersText(many, null)).toBe('ada, bob and 2 others');
    expect(ownersText(many.slice(0, 3), null)).toBe('ada, bob and 1 other');
  });
});
