import { describe, expect, it } from 'vitest';
import type { Counts } from '../../lib/events/counts';
import { fitted, scale, xOf } from '../../lib/chart/scale';
import { stepOf } from '../../lib/events/steps';
import type { Palette } from '../../lib/chart/palette';
import type { Difference } from './compare.svelte';
import { differingCounts, cut, minTopCount, nameLabels, paint, pick } from './paint';

const at = (event_id: string, a: bigint | null, b: bigint | null): Difference => ({
  event_id,
  change: a === null ? 'only_in_compare' : b === null ? 'only_in_base' : 'differs',
  at: { a, b },
  until: { a: null, b: null },
});

it('a name is shortened to the available width', () => {
  const named = (room: number): string => cut('Battle of Actium', room, (text) => 10 * text.length);
  expect([160, 159, 80, 20, 10].map(named)).toEqual(['Battle of Actium', 'Battle of Acti…', 'Battle…', 'B…', '']);
});

it('a label ends before the next mark, or is left out', () => {
  const view = scale(0n, 0, 1e6, 1_000);
  const second = 1_000_000n;
  const differences = [
    at('Ivan', -100n * second, null),
    at('Katrina is a hurricane', 0n, null),
    at('Lee', 40n * second, null),
    at('Jose', 60n * second, null),
  ];
  const named = (chosen: string | null): [string, number][] =>
    nameLabels({ view, height: 300, differences, chosen }, (text) => 7 * text.length).map(({ text, left }) => [
      text,
      Math.round(left - xOf(view, 0n)),
    ]);
  // Lee has no room on either side, and Katrina has none next to the label of Ivan.
  expect(named(null)).toEqual([
    ['Ivan', -88],
    ['Jose', 72],
  ]);
  expect(named('Katrina is a hurricane')).toEqual([
    ['Katrina i…', -82],
    ['Jose', 72],
  ]);
});

describe('a mark of a difference', () => {
  const view = scale(0n, 0, 1e6, 1_000);
  const differences = [at('one', 0n, null), at('two', 1_000_000n, 90_000_000n), at('three', null, 2_000_000n)];
  const picture = { view, height: 300, differences };
  const above = (300 - 34) / 2 - 14;
  const below = (300 + 34) / 2 + 14;
  const names = (x: number, y: number): string[] => pick(picture, { x, y }).map(({ event_id }) => event_id);

  it('selects all differences that overlap it, but none of the other side', () => {
    expect(names(xOf(view, 0n), above)).toEqual(['one', 'two']);
    expect(names(xOf(view, 2_000_000n), below)).toEqual(['three']);
    expect(names(xOf(view, 90_000_000n), below)).toEqual(['two']);
    expect(names(xOf(view, 40_000_000n), below)).toEqual([]);
  });

  it('extends to the end of a duration', () => {
    const lasting = [{ ...at('night', 0n, null), until: { a: 50_000_000n, b: null } }];
    const found = (time: bigint): number =>
      pick({ ...picture, differences: lasting }, { x: xOf(view, time), y: above }).length;
    expect([-20_000_000n, 0n, 40_000_000n, 70_000_000n].map(found)).toEqual([0, 1, 1, 0]);
  });
});

/** Returns the drawn texts, and the rectangles by color. */
function drawn(
  a: Counts,
  isLog = false,
  differences: Difference[] = [],
): { texts: string[]; filled: Map<string, number[][]> } {
  const texts: string[] = [];
  const filled = new Map<string, number[][]>();
  const context = {
    fillStyle: '',
    globalAlpha: 1,
    canvas: { clientWidth: 1_000 },
    clearRect: () => {},
    measureText: () => ({ width: 30 }),
    strokeText: () => {},
    beginPath: () => {},
    lineTo: () => {},
    stroke: () => {},
    arc: () => {},
    fill: () => {},
    fillText: (text: string) => void texts.push(text),
    fillRect(...rectangle: number[]) {
      const color = `${this.fillStyle} ${this.globalAlpha}`;
      filled.set(color, [...(filled.get(color) ?? []), rectangle.map(Math.round)]);
    },
  };
  const palette = new Proxy({}, { get: (_, name) => name }) as Palette;
  const view = fitted(0n, 1_000_000n, 1_000, 0);
  const picture = { view, height: 388, counts: { a, b: { ...a, buckets: [] } }, differences, chosen: null, isLog };
  paint(context as unknown as CanvasRenderingContext2D, palette, picture);
  return { texts, filled };
}

describe('the counts of both sides', () => {
  const step = stepOf(100_000);
  const bucket = (from: bigint, count: number): Counts['buckets'][number] => ({ from, to: from + 100_000n, count });
  const buckets = [bucket(-500_000n, 12_345), bucket(0n, 90), bucket(500_000n, 45)];
  const counts: Counts = { step, from: -500_000n, to: 1_500_000n, until: 1_500_000n, buckets, count: 12_480 };

  it('share a scale with round ticks up to the maximum in view', () => {
    const { texts, filled } = drawn(counts);
    // On both sides.
    for (const tick of ['20', '40', '60', '80', '100']) expect(texts.filter((text) => text === tick)).toHaveLength(2);
    expect(texts).not.toContain('12,345');
    const bars = filled.get('faint 1')!;
    expect(bars.find(([left]) => left === 0)![3]! / bars.find(([left]) => left === 500)![3]!).toBeCloseTo(2, 1);
  });

  it('have events of only one side in their color, as far as differences are known', () => {
    const differences = [at('one', 10n, null), at('two', 20n, null), at('three', 510_000n, 30n), at('four', null, 10n)];
    const marksOf = (side: 'a' | 'b'): [string, bigint[], number[]][] =>
      differingCounts(counts, side, differences).map(({ change, counts: { buckets } }) => [
        change,
        buckets.map(({ from }) => from),
        buckets.map(({ count }) => count),
      ]);
    expect(marksOf('a')).toEqual([
      ['only_in_base', [0n], [2]],
      ['differs', [500_000n], [1]],
    ]);
    expect(marksOf('b')).toEqual([
      ['only_in_compare', [0n], [1]],
      ['differs', [0n], [1]],
    ]);
    // 45 events only on this side are half of a bar of 90 events.
    const many = Array.from({ length: 45 }, (_, index) => at(`many-${index}`, BigInt(index), null));
    const { filled } = drawn(counts, false, many);
    const high = (color: string): number => Math.abs(filled.get(`${color} 1`)!.find(([left]) => left === 0)![3]!);
    expect(high('hue-1') / high('faint')).toBeCloseTo(1, 1);
  });

  it('stay low if they are few', () => {
    expect([10, 143, 600].map(minTopCount)).toEqual([1, 6, 25]);
    const { filled } = drawn({ ...counts, buckets: [bucket(0n, 1)], count: 1 });
    expect(Math.abs(filled.get('faint 1')![0]![3]!)).toBeLessThanOrEqual(24);
  });

  it('are logarithmic on request', () => {
    expect(drawn(counts, true).texts.filter((text) => /^10*$/.test(text))).toEqual([
      '1',
      '10',
      '100',
      '1',
      '10',
      '100',
    ]);
  });

  it('are covered where nothing is counted yet', () => {
    const covered = (some: Partial<Counts>): number[][] =>
      (drawn({ ...counts, ...some }).filled.get('line-strong 0.25') ?? []).map(([left, , width]) => [left!, width!]);
    expect(covered({})).toEqual([]);
    expect(covered({ until: 600_000n })).toEqual([
      [600, 400],
      [600, 400],
    ]);
    // A part that was panned into view is not counted either.
    expect(covered({ from: 0n, to: 900_000n, until: 900_000n })).toEqual([
      [900, 100],
      [900, 100],
    ]);
  });
});
