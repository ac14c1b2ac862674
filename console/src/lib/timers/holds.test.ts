import { describe, expect, it } from 'vitest';
import { leftText, ownersText, activeHolds, type Hold } from './holds';

const AT = Date.UTC(2027, 0, 1, 8);
const hold = (owner: string, seconds: number): Hold => ({
  hold_id: `hold_${owner}_${seconds}`,
  owner,
  reason: 'looking at the invoices',
  expires_at: new Date(AT + seconds * 1_000).toISOString(),
});

describe('holds', () => {
  it('are active until they expire', () => {
    const [ended, ends, lasting] = [hold('ada', -1), hold('ada', 0), hold('bob', 1)];
    expect(activeHolds([ended, ends, lasting], AT)).toEqual([lasting]);
  });

  it('have a remaining time that is never zero before expiry', () => {
    expect(leftText(hold('ada', 600), AT)).toBe('10 minutes left');
    expect(leftText(hold('ada', 80), AT)).toBe('1 minute 20 seconds left');
    expect(leftText(hold('ada', 80), AT + 79_999)).toBe('1 second left');
    expect(leftText(hold('ada', 80), AT + 90_000)).toBe('1 second left');
  });

  it('list each owner once', () => {
    expect(ownersText([hold('ada', 1)], 'ada')).toBe('you');
    expect(ownersText([hold('ada', 1), hold('ada', 2), hold('bob', 3)], 'bob')).toBe('ada and you');
    const many = ['ada', 'bob', 'cem', 'dee'].map((owner) => hold(owner, 1));
    expect(ownersText(many, null)).toBe('ada, bob and 2 others');
    expect(ownersText(many.slice(0, 3), null)).toBe('ada, bob and 1 other');
  });
});
