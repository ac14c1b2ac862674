import { describe, expect, it } from 'vitest';
import { endAt, endText, fullText, hasPassed, localText } from './ends';

const NOW = Date.parse('2026-11-25T22:00:00Z');
const END = { at: '2026-12-02T14:00:31Z' };

describe('ends', () => {
  it('are formatted briefly, with the year if it differs', () => {
    expect(endText(null, NOW)).toBe('for good');
    expect(endText({ in: 'P7D' }, NOW)).toBe('for a week');
    expect(endText({ in: '90m' }, NOW)).toBe('for 90m');
    expect(endText(END, NOW)).toBe('until 2 Dec, 14:00');
    expect(endText({ at: '2027-01-02T09:05:00Z' }, NOW)).toBe('until 2 Jan 2027, 09:05');
    expect(fullText(END.at)).toBe('2 December 2026, 14:00 UTC');
  });

  it('pass at their moment', () => {
    expect(hasPassed(END, Date.parse(END.at) - 1)).toBe(false);
    expect(hasPassed(END, Date.parse(END.at))).toBe(true);
    expect([hasPassed(null, NOW), hasPassed({ in: 'P1D' }, NOW)]).toEqual([false, false]);
  });

  it('are read from a date and time field in the display zone', () => {
    expect(localText(Date.parse(END.at))).toBe('2026-12-02T14:00');
    expect(endAt('2026-12-02T14:00')).toEqual({ at: '2026-12-02T14:00:00Z' });
    expect(endAt('2026-12-02T14:00:05')).toEqual({ at: '2026-12-02T14:00:05Z' });
    expect(endAt('')).toBeNull();
  });
});
