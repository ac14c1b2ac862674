import { describe, expect, it } from 'vitest';
import { scale, xOf } from '../../lib/events/scale';
import type { Difference } from './compare.svelte';
import { pick } from './paint';

const at = (event_id: string, a: bigint | null, b: bigint | null): Difference => ({
  event_id,
  change: a === null ? 'only_in_b' : b === null ? 'only_in_a' : 'differs',
  at: { a, b },
});

describe('a mark of a difference', () => {
  const view = scale(0n, 0, 1e6, 1_000);
  const differences = [at('one', 0n, null), at('two', 1_000_000n, 90_000_000n), at('three', null, 2_000_000n)];
  const picture = { view, height: 300, differences };
  const above = (300 - 34) / 2 - 14;
  const below = (300 + 34) / 2 + 14;
  const names = (x: number, y: number): string[] => pick(picture, { x, y }).map(({ event_id }) => event_id);

  it('stands for all that lie on it, and for none of the other side', () => {
    expect(names(xOf(view, 0n), above)).toEqual(['one', 'two']);
    expect(names(xOf(view, 2_000_000n), below)).toEqual(['three']);
    expect(names(xOf(view, 90_000_000n), below)).toEqual(['two']);
    expect(names(xOf(view, 40_000_000n), below)).toEqual([]);
  });
});
