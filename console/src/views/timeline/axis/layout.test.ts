import { describe, expect, it } from 'vitest';
import type { Layout, Strips } from './picture';
import { NONE, simultaneousRows, dotAt, layOut, nameTop, pick, ROW } from './layout';
import { fitted, panned, xOf, type Scale } from '../../../lib/chart/scale';
import { EventStore } from '../../../lib/events/store';

const WIDTH = 1_000;
const DAY = 86_400_000_000n;

function days(times: number[], more: Record<number, { end: number }> = {}): EventStore {
  const created = new EventStore();
  const text = (day: number): string => new Date(day * 86_400_000).toISOString();
  times.forEach((day, index) =>
    created.push({
      event_id: `e${index}`,
      time: text(day),
      description: `Event ${index}`,
      ...(more[index] ? { end_time: text(more[index].end) } : {}),
    }),
  );
  return created;
}

const LINE: Strips = { ys: [0], groups: null, above: 200, base: 0 };

const lay = (store: EventStore, scale: Scale, selected = -1): Layout =>
  layOut({ store, scale, strips: LINE, below: 120, margin: 100, measure: (text) => text.length * 6, selected });

describe('layout', () => {
  it('draws every event as a dot, unless stacks would be too high', () => {
    const few = lay(days(Array.from({ length: 20 }, () => 50)), fitted(0n, 100n * DAY, WIDTH, 0));
    expect([few.isDots, new Set(few.ys).size, new Set(few.xs).size]).toEqual([true, 20, 1]);
    expect(Math.min(...few.ys)).toBeGreaterThan(-200);
    expect(lay(days(Array.from({ length: 60 }, () => 50)), fitted(0n, 100n * DAY, WIDTH, 0)).isDots).toBe(false);
  });

  it('keeps stacks at their time while panning', () => {
    const store = days(Array.from({ length: 500 }, (_, index) => index / 5));
    const before = fitted(0n, 100n * DAY, WIDTH, 0);
    const after = panned(before, 123);
    const places = (view: Scale): number[] => {
      const layout = lay(store, view);
      const shift = xOf(view, layout.scale.center) - xOf(view, 0n);
      return [200, 201, 250].map((row) => dotAt(layout, store, row).x + shift);
    };
    const [a, b] = [places(before), places(after)];
    a.forEach((x, index) => expect(x).toBeCloseTo(b[index]!, 2));
  });

  it('puts each group on its own line', () => {
    const store = days([10, 50, 50, 90]);
    const strips: Strips = { ys: [-100, 0], groups: Uint8Array.from([0, 1, 0, 1]), above: 90, base: 0 };
    const view = fitted(0n, 100n * DAY, WIDTH, 0);
    const layout = layOut({ store, scale: view, strips, below: 0, margin: 0, measure: () => 50, selected: -1 });
    expect([...layout.ys]).toEqual([-104, -4, -104, -4]);
    expect(layout.labels).toEqual([]);
  });

  it('never overlaps labels', () => {
    const layout = lay(
      days(Array.from({ length: 300 }, (_, index) => index / 3 + (index % 7) / 20)),
      fitted(0n, 100n * DAY, WIDTH, 0),
    );
    const boxes = layout.labels.map((label) => ({
      line: label.line,
      from: label.isLeft ? label.x - label.width : label.x,
      to: label.isLeft ? label.x : label.x + label.width,
    }));
    const overlaps = boxes.filter((a, index) =>
      boxes.some((b, other) => other > index && a.line === b.line && a.from < b.to && b.from < a.to),
    );
    expect(layout.labels.length).toBeGreaterThan(20);
    expect(overlaps).toEqual([]);
  });

  it('keeps labels off the now and fork lines if the other side has room', () => {
    const view = fitted(0n, 100n * DAY, WIDTH, 0);
    const store = days([40, 50, 60]);
    const sides = (crossings: [number, number][]): boolean[] => {
      const input = { store, scale: view, strips: LINE, below: 120, margin: 0, measure: () => 60, selected: -1 };
      const { labels } = layOut({ ...input, crossings });
      return labels.sort((a, b) => a.row - b.row).map(({ isLeft }) => isLeft);
    };
    expect(sides([])).toEqual([false, false, false]);
    // Just right of the middle one.
    expect(sides([[10, 30]])).toEqual([false, true, false]);
    // If both sides are crossed, the label keeps its default side; the first label avoids the second line.
    const both: [number, number][] = [
      [10, 30],
      [-30, -10],
    ];
    expect(sides(both)).toEqual([true, false, false]);
  });

  it('labels the selected event first', () => {
    const store = days(Array.from({ length: 2_000 }, (_, index) => 50 + index / 2_000));
    const view = fitted(0n, 100n * DAY, WIDTH, 0);
    expect(lay(store, view).labels.some((label) => label.row === 777)).toBe(false);
    expect(lay(store, view, 777).labels[0]?.row).toBe(777);
  });

  it('flips a label that would cross the right edge', () => {
    const layout = lay(days([10, 99]), fitted(0n, 100n * DAY, WIDTH, 0));
    expect(layout.labels.find((label) => label.row === 1)?.isLeft).toBe(true);
    expect(layout.labels.find((label) => label.row === 0)?.isLeft).toBe(false);
  });

  it('shows an event with a duration as a bar, even if it started before the view', () => {
    const layout = lay(days([0, 500], { 0: { end: 600 } }), fitted(450n * DAY, 550n * DAY, WIDTH, 0));
    const long = layout.labels.find((label) => label.row === 0)!;
    expect(long.x + long.bar).toBeCloseTo(1_000, 0);
    expect(long.bar).toBeCloseTo(6_000, 0);
  });

  it('stacks events at nearly the same time and picks the whole stack', () => {
    const store = days([10, 50.5, 50.51, 50.52, 90]);
    const layout = lay(store, fitted(0n, 100n * DAY, WIDTH, 0));
    const dots = [1, 2, 3].map((row) => dotAt(layout, store, row));
    expect([new Set(dots.map((dot) => dot.x)).size, new Set(dots.map((dot) => dot.y)).size]).toEqual([1, 3]);
    for (const row of [1, 2, 3])
      expect(pick(layout, dots[row - 1]!.x, dots[row - 1]!.y)).toEqual({ row, rows: [1, 2, 3] });
  });

  it('picks only the stack under the pointer if two groups have stacks at one instant', () => {
    const store = days([10, 50, 50, 50, 90]);
    const strips: Strips = { ys: [-100, 0], groups: Uint8Array.from([0, 1, 0, 1, 0]), above: 90, base: 0 };
    const view = fitted(0n, 100n * DAY, WIDTH, 0);
    const layout = layOut({ store, scale: view, strips, below: 0, margin: 0, measure: () => 50, selected: -1 });
    const { x, y } = dotAt(layout, store, 3);
    expect(pick(layout, x, y).rows).toEqual([1, 3]);
    expect(pick(layout, x, y - 100).rows).toEqual([2]);
  });

  it('picks all events whose thin bars overlap', () => {
    const long = Object.fromEntries([0, 1, 2].map((index) => [index, { end: 60 }]));
    const store = days([10, 11, 12], long);
    const view = fitted(0n, 100n * DAY, WIDTH, 0);
    const layout = layOut({ store, scale: view, strips: LINE, below: 0, margin: 0, measure: () => 50, selected: -1 });
    expect(pick(layout, xOf(view, 40n * DAY) - WIDTH / 2, 3).rows).toEqual([0, 1, 2]);
    expect(pick(layout, xOf(view, 70n * DAY) - WIDTH / 2, 3)).toBe(NONE);
  });

  it('returns the rows of a bar that cannot be split by zooming', () => {
    const store = days([10, 50, 50, 50, 51]);
    expect(simultaneousRows(store, { from: 49n * DAY, to: 51n * DAY })).toEqual([1, 2, 3]);
    expect(simultaneousRows(store, { from: 49n * DAY, to: 52n * DAY })).toEqual([]);
    expect(simultaneousRows(store, { from: 9n * DAY, to: 11n * DAY })).toEqual([]);
  });

  it('picks the label or dot under the pointer, and nothing elsewhere', () => {
    const store = days([10, 50, 90]);
    const view = fitted(0n, 100n * DAY, WIDTH, 0);
    const layout = lay(store, view);
    const x = xOf(view, 50n * DAY) - WIDTH / 2;
    expect(pick(layout, x + 2, -5)).toEqual({ row: 1, rows: [1] });
    const label = layout.labels.find((found) => found.row === 2)!;
    expect(pick(layout, label.isLeft ? label.x - 20 : label.x + 20, 12 + label.line * ROW + 5).row).toBe(2);
    expect(pick(layout, x + 200, -5)).toBe(NONE);
  });
});

it('puts a lane name above its highest bar', () => {
  // Bars take all but eight pixels of the height above a lane's line, and a name is 16 pixels high.
  for (const above of [30, 49, 120]) expect(nameTop({ above }) + 4).toBeLessThanOrEqual(-(above - 8));
});
