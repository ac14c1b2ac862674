import { describe, expect, it } from 'vitest';
import { place, took, wrong } from './whereabouts';

describe('followers', () => {
  it('show their host and process', () => {
    expect(place({ host: 'web-1', process: 4711 })).toBe('web-1, process 4711');
    expect(place({ host: 'web-1', process: null })).toBe('web-1');
    expect(place({ process: 4711 })).toBe('process 4711');
    expect(place({})).toBe('');
  });

  it('show a clock fault in words', () => {
    expect(wrong({ offset: '-150ms', drift_ppm: 200 })).toBe('150ms behind, 200 ppm too fast');
    expect(wrong({ offset: '2s', slew_ppm: 500 })).toBe('2s ahead, slewed to at 500 ppm');
    expect(wrong({ offset: '2s', slew_back_ppm: 1 })).toBe('2s ahead, slewed back at 1 ppm');
    expect(wrong({ drift_ppm: -50, jitter: '5ms' })).toBe('50 ppm too slow, 5ms of jitter');
    const leap = 'insert@2028-12-31T23:59:59Z';
    expect(wrong({ leap })).toBe(`leap second (${leap})`);
    expect(wrong({ leap, leap_smear: '24h' })).toBe(`leap second (${leap}, smeared over 24h)`);
  });

  it('show latency in milliseconds or seconds', () => {
    expect(took('PT0.002114S')).toBe('2.1 ms');
    expect(took('PT0.000087S')).toBe('0.087 ms');
    expect(took('PT0S')).toBe('0 ms');
    expect(took('PT4.0312S')).toBe('4.03 s');
    expect(took('PT12S')).toBe('12 s');
    expect(took('PT2M3S')).toBe('PT2M3S');
  });
});
