import { describe, expect, it } from 'vitest';
import { SECOND } from '../../../lib/time/instant';
import { SPEEDS, positionOf, speedOf, stepped, timeOf } from './playback';

describe('playback', () => {
  const part = { from: 0n, to: 3_600n * SECOND };

  it('moves at the chosen speed and stops at the end', () => {
    expect(stepped(0n, 100, speedOf('60'), part)).toBe(6n * SECOND);
    expect(stepped(0n, 100, speedOf('all'), part)).toBe(12n * SECOND);
    expect(stepped(3_599n * SECOND, 200, speedOf('3600'), part)).toBe(part.to);
  });

  it('starts at the beginning of the range and does not jump after the page was paused', () => {
    expect(stepped(-5n * SECOND, 100, speedOf('10'), part)).toBe(SECOND);
    expect(stepped(0n, 60_000, speedOf('1'), part)).toBe(250_000n);
  });

  it('has a slider that round-trips its position', () => {
    for (const position of [0, 1, 500, 1_000]) expect(positionOf(timeOf(position, part), part)).toBe(position);
    expect(positionOf(5n, { from: 7n, to: 7n })).toBe(0);
    expect(speedOf('no such speed')).toBe(SPEEDS[0]);
  });
});
