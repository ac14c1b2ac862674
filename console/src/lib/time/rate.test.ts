import { describe, expect, it } from 'vitest';
import { rateText, rateToSlider, rateWords, readRate, sliderToRate } from './rate';

describe('rates', () => {
  it('are parsed, or rejected with a reason', () => {
    expect(readRate('60')).toBe(60);
    expect(readRate('86,400×')).toBe(86_400);
    expect(readRate('1e-3')).toBe(0.001);
    expect(readRate('0')).toMatch(/pause/);
    expect(readRate('-2')).toMatch(/number/);
    expect(readRate('2000000')).toMatch(/between/);
  });

  it('are described in words', () => {
    expect(rateWords(1)).toBe('As fast as the host’s clock');
    expect(rateWords(3_600)).toBe('An hour every second');
    expect(rateWords(172_800)).toBe('2 days every second');
    expect(rateWords(0.5)).toBe('A second takes 2 seconds');
    expect(rateWords(1 / 60)).toBe('A second takes a minute');
    expect(rateText(86_400)).toBe('86,400×');
  });

  it('survive a round trip through the slider', () => {
    for (const rate of [0.000_001, 0.001, 1, 60, 3_600, 1_000_000]) expect(sliderToRate(rateToSlider(rate))).toBe(rate);
  });
});
