import { describe, expect, it } from 'vitest';
import { ALL, type Filter } from './filter';
import { parseSecond, secondParam } from './second-filter';

describe('comparison filter', () => {
  it('survives a round trip through the URL', () => {
    const filters: Filter[] = [
      ALL,
      { ...ALL, text: 'rain & wind' },
      { ...ALL, actor: 'KATRINA', attributes: { status: 'HU', 'max=wind': '140/..' } },
      { ...ALL, source: 'https://example.com/a?b=c&d', place: 'Paris, France' },
    ];
    for (const filter of filters) expect(parseSecond(secondParam(filter))).toEqual(filter);
  });

  it('is null without a parameter, and unrestricted if the parameter is `all`', () => {
    expect(parseSecond(null)).toBeNull();
    expect(parseSecond('all')).toEqual(ALL);
    expect(secondParam(ALL)).toBe('all');
  });
});
