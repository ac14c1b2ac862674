import { describe, expect, it } from 'vitest';
import { placeText, latencyText, faultText } from './follower-text';

describe('followers', () => {
  it('show their host and process', () => {
    expect(placeText({ host: 'web-1', process: 4711 })).toBe('web-1, process 4711');
    expect(placeText({ host: 'web-1', process: null })).toBe('web-1');
    expect(placeText({ process: 4711 })).toBe('process 4711');
    expect(placeText({})).toBe('');
  });

  it('show a clock fault in words', () => {
    expect(faultText({ offset: '-150ms', drift_ppm: 200 })).toBe('150ms behind, 200 ppm too fast');
    expect(faultText({ offset: '2s', slew_ppm: 500 })).toBe('2s ahead, slewed to at 500 ppm');
    expect(faultText({ offset: '2s', slew_back_ppm: 1 })).toBe('2s ahead, slewed back at 1 ppm');
    expect(faultText({ drift_ppm: -50, jitter: '5ms' })).toBe('50 ppm too slow, 5ms of jitter');
    const leap = 'insert@2028-12-31T23:59:59Z';
    expect(faultText({ leap })).toBe(`leap second (${leap})`);
    expect(faultText({ leap, leap_smear: '24h' })).toBe(`leap second (${leap}, smeared over 24h)`);
  });

  it('show latency in milliseconds or seconds', () => {
    expect(latencyText('PT0.002114S')).toBe('2.1 ms');
    expect(latencyText('PT0.000087S')).toBe('0.087 ms');
    expect(latencyText('PT0S')).toBe('0 ms');
    expect(latencyText('PT4.0312S')).toBe('4.03 s');
    expect(latencyText('PT12S')).toBe('12 s');
    expect(latencyText('PT2M3S')).toBe('PT2M3S');
  });
});
