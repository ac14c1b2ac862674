import { describe, expect, it } from 'vitest';
import { scale, xOf } from '../../lib/chart/scale';
import { SECOND } from '../../lib/time/instant';
import { following, hasPannedAway, isOutdated } from './follow';

describe('following the clock', () => {
  const view = scale(0n, 0, 1e6, 1_000);

  it('moves the current time to its place, and keeps the view while it is there', () => {
    const moved = following(view, 10_000n * SECOND)!;
    expect(Math.round(xOf(moved, 10_000n * SECOND))).toBe(860);
    expect(following(moved, 10_000n * SECOND)).toBeNull();
    expect(following(moved, 10_002n * SECOND)).not.toBeNull();
  });

  it('ends on panning away, not on zooming', () => {
    const moved = following(view, 0n)!;
    expect(hasPannedAway(moved, 0n)).toBe(false);
    expect(hasPannedAway(moved, 100n * SECOND)).toBe(false);
    expect(hasPannedAway(moved, 400n * SECOND)).toBe(true);
    expect(hasPannedAway(moved, -400n * SECOND)).toBe(true);
  });

  it('keeps loaded data until the range has moved or resized by a certain part', () => {
    const read = { from: 0n, to: 1_000n };
    expect(isOutdated(read, read)).toBe(false);
    expect(isOutdated(read, { from: 20n, to: 1_020n })).toBe(false);
    expect(isOutdated(read, { from: 21n, to: 1_021n })).toBe(true);
    expect(isOutdated(read, { from: -21n, to: 979n })).toBe(true);
    expect(isOutdated(read, { from: 0n, to: 1_100n })).toBe(true);
  });
});
