import { describe, expect, it } from 'vitest';
import { format, parse } from './instant';
import { isPeriod, periodRange, periodText } from './period-range';
import { PERIODS } from './periods';

const NOW = parse('2024-03-31T12:00:00Z')!;
const rangeOf = (period: string): string[] => {
  const { from, to } = periodRange(period, NOW)!;
  return [format(from), format(to)];
};

describe('axis period', () => {
  it('is relative to the clock, backward and forward', () => {
    expect(rangeOf('24h')).toEqual(['2024-03-30T12:00:00Z', '2024-03-31T12:00:00Z']);
    expect(rangeOf('next-7d')).toEqual(['2024-03-31T12:00:00Z', '2024-04-07T12:00:00Z']);
    // Calendar months.
    expect(rangeOf('P1M')).toEqual(['2024-02-29T12:00:00Z', '2024-03-31T12:00:00Z']);
    expect(rangeOf('next-P1Y')[1]).toBe('2025-03-31T12:00:00Z');
  });

  it('is valid exactly if other views have it', () => {
    for (const [id, title] of PERIODS) {
      expect(isPeriod(id)).toBe(true);
      expect(periodText(id)).toBe(title);
    }
    for (const wrong of [null, '', '2h', 'next-', 'custom', 'P2M']) {
      expect(isPeriod(wrong)).toBe(false);
      expect(periodRange(wrong, NOW)).toBeNull();
    }
    expect(['next-24h', 'P1M', 'next-P1Y'].map(periodText)).toEqual(['Next 24 hours', 'Last month', 'Next year']);
  });
});
