import { describe, expect, it } from 'vitest';
import { place, took } from './whereabouts';

describe('followers', () => {
  it('run where they say', () => {
    expect(place({ host: 'web-1', process: 4711 })).toBe('web-1, process 4711');
    expect(place({ host: 'web-1', process: null })).toBe('web-1');
    expect(place({ process: 4711 })).toBe('process 4711');
    expect(place({})).toBe('');
  });

  it('take milliseconds or seconds', () => {
    expect(took('PT0.002114S')).toBe('2.1 ms');
    expect(took('PT0.000087S')).toBe('0.087 ms');
    expect(took('PT0S')).toBe('0 ms');
    expect(took('PT4.0312S')).toBe('4.03 s');
    expect(took('PT12S')).toBe('12 s');
    expect(took('PT2M3S')).toBe('PT2M3S');
  });
});
