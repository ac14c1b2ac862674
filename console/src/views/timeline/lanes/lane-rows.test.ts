import { describe, expect, it } from 'vitest';
import { fitted, xOf, type Scale } from '../../../lib/chart/scale';
import { EventStore } from '../../../lib/events/store';
import type { Legend } from '../groups/groups';
import type { Layout, Strips } from '../axis/picture';
import { LaneView, OTHERS, ROW_HEIGHT } from './lane-rows';
import { dotAt, layOut, pick } from '../axis/layout';

const WIDTH = 1_000;
const DAY = 86_400_000_000n;
const view: Scale = fitted(0n, 100n * DAY, WIDTH, 0);

function spans(...all: [number, number][]): EventStore {
  const created = new EventStore();
  const text = (day: number): string => new Date(day * 86_400_000).toISOString();
  all.forEach(([from, to], index) =>
    created.push({
      event_id: `e${index}`,
      time: text(from),
      end_time: text(to),
      name: `Event ${index}`,
      description: '',
    }),
  );
  return created;
}

const legend = (...keys: string[]): Legend => {
  const groups = keys.map((key) => ({ key, count: 1 }));
  return { by: 'source', groups, all: groups, classes: null, others: 0, isAbout: false, hasSeveral: false };
};

function lay(strips: Strips, store: EventStore): Layout {
  const measure = (text: string): number => text.length * 6;
  return layOut({ store, scale: view, strips, below: 0, margin: 0, measure, selected: -1 });
}

interface LaneSetup {
  store: EventStore;
  groups?: number[];
  keys?: string[];
  open?: string[];
  pins?: string[];
  scrolled?: number;
  height?: number;
}
function lanes({ store, groups, keys, open = [], pins = [], scrolled = 0, height = 400 }: LaneSetup): Strips {
  return new LaneView(new Set(open), scrolled, [], pins).strips({
    store,
    groups: groups === undefined ? null : Uint8Array.from(groups),
    legend: keys === undefined ? null : legend(...keys),
    top: 0,
    bottom: height,
    base: 0,
  });
}
const x = (day: number): number => xOf(view, BigInt(day) * DAY) - WIDTH / 2;

describe('lanes with rows', () => {
  it('put concurrent events in separate rows and pick each of them', () => {
    const store = spans([0, 60], [10, 50], [55, 90]);
    const strips = lanes({ store });
    const layout = lay(strips, store);
    const [a, b, c] = [0, 1, 2].map((event) => dotAt(layout, store, event).y);
    expect([b! - a!, c! - a!]).toEqual([ROW_HEIGHT, ROW_HEIGHT]);
    expect(pick(layout, x(30), a!)).toEqual({ row: 0, rows: [0] });
    expect(pick(layout, x(30), b!)).toEqual({ row: 1, rows: [1] });
    expect(pick(layout, x(70), b!)).toEqual({ row: 2, rows: [2] });
    expect(pick(layout, x(95), b!).row).toBe(-1);
  });

  it('pick all events at the pointer if their bars are very thin', () => {
    const store = spans([50, 50.01], [50.02, 50.03], [50.04, 50.05], [10, 20]);
    const layout = lay(lanes({ store }), store);
    const { y } = dotAt(layout, store, 0);
    expect(pick(layout, x(50), y).rows).toEqual([0, 1, 2]);
  });

  it('keep events without duration as dots above', () => {
    const store = spans([0, 60], [30, 30]);
    const layout = lay(lanes({ store }), store);
    expect(dotAt(layout, store, 1).y).toBeLessThan(dotAt(layout, store, 0).y);
    expect(pick(layout, x(30), dotAt(layout, store, 1).y).row).toBe(1);
  });

  it('report the rows that do not fit, and show all of them in an open lane', () => {
    const many = Array.from({ length: 30 }, (_, index): [number, number] => [index, 99]);
    const store = spans(...many, [2, 3]);
    const groups = [...many.map(() => 0), 1];
    const layoutOf = (strips: Strips): (number | boolean)[][] => {
      lay(strips, store);
      return strips.rows!.lanes.map(({ rows, more, isOpen }) => [rows, more, isOpen]);
    };
    const closed = lanes({ store, groups, keys: ['A', 'B'] });
    const [a, b] = layoutOf(closed);
    expect(a![0]! as number).toBeGreaterThan(3);
    expect((a![0] as number) + (a![1] as number)).toBe(30);
    expect([b, closed.rows!.height]).toEqual([[1, 0, false], 400]);
    const open = lanes({ store, groups, keys: ['A', 'B'], open: ['A'] });
    expect(layoutOf(open)).toEqual([
      [30, 0, true],
      [1, 0, false],
    ]);
    expect(open.rows!.height).toBeGreaterThan(30 * ROW_HEIGHT);
  });

  it('do not scroll beyond their end', () => {
    const store = spans(...Array.from({ length: 40 }, (_, index): [number, number] => [index, 99]));
    const at = (scrolled: number): number => lanes({ store, open: [OTHERS], scrolled }).rows!.lanes[0]!.top;
    const { height } = lanes({ store, open: [OTHERS] }).rows!;
    expect([at(0), at(50), at(1e6)]).toEqual([0, -50, 400 - height]);
  });

  it('are in the order chosen by the user', () => {
    const store = spans([0, 10], [5, 20], [7, 9]);
    const tops = (order: string[]): number[] =>
      new LaneView(new Set(), 0, order)
        .strips({
          store,
          groups: Uint8Array.from([0, 1, 2]),
          legend: legend('A', 'B'),
          top: 0,
          bottom: 400,
          base: 0,
        })
        .rows!.lanes.map(({ top }) => top);
    const [a, b, others] = tops([]);
    expect(a).toBeLessThan(b!);
    expect(tops(['B'])).toEqual([b, a, others]);
  });

  it('include a lane for ungrouped events only if there are any', () => {
    const store = spans([0, 10], [5, 20]);
    const names = (groups: number[]): string[] =>
      lanes({ store, groups, keys: ['A'] }).rows!.lanes.map(({ name }) => name);
    expect([names([0, 1]), names([0, 0])]).toEqual([['A', 'others'], ['A']]);
  });

  it('truncate a name before the next event', () => {
    const store = spans([0, 1], [20, 21], [24, 25], [26, 26.5]);
    const written: [string, number][] = [];
    const context = new Proxy(
      {},
      {
        get: (_, name) =>
          name === 'fillText' ? (text: string, at: number) => written.push([text, at]) : () => undefined,
        set: () => true,
      },
    ) as unknown as CanvasRenderingContext2D;
    const layout = lay(lanes({ store }), store);
    const palette = new Proxy({}, { get: () => '#000' }) as never;
    layout.rows!.paint(context, { layout, store, palette, marks: new Map(), colors: () => '#000' }, 0, WIDTH / 2);
    expect(written.map(([text]) => text)).toEqual(['Event 0', 'Eve…', 'Event 3']);
  });
});

describe('a pinned lane', () => {
  const store = spans(...Array.from({ length: 30 }, (): [number, number] => [0, 60]), [5, 20], [30, 90]);
  const groups = [...Array.from({ length: 30 }, () => 0), 1, 2];
  const lay3 = (pins: string[], scrolled = 0, open = ['A']): Strips =>
    lanes({ store, groups, keys: ['A', 'B', 'C'], open, pins, scrolled, height: 300 });
  const tops = (strips: Strips): number[] => strips.rows!.lanes.map(({ top }) => top);

  it('stays at the top while the others scroll', () => {
    const [still, scrolled] = [lay3(['C']), lay3(['C'], 100)];
    expect([tops(still)[2], tops(scrolled)[2]]).toEqual([0, 0]);
    expect(tops(scrolled)[0]).toBe(tops(still)[0]! - 100);
    expect(still.rows!.edge).toBe(still.rows!.lanes[2]!.bottom);
    // All other lanes are reachable by scrolling.
    const end = lay3(['C'], 10_000);
    expect(Math.max(...tops(end).map((_, lane) => end.rows!.lanes[lane]!.bottom))).toBe(300);
  });

  it('hides what is scrolled under it from drawing and picking', () => {
    const strips = lay3(['C'], 100);
    const layout = lay(strips, store);
    const hidden = [...store.bodies.keys()].find((event) => {
      const { y } = dotAt(layout, store, event);
      return event < 30 && y > 2 && y < strips.rows!.edge - 12;
    })!;
    const { y } = dotAt(layout, store, hidden);
    // The pinned lane has its event elsewhere.
    expect(pick(layout, x(10), y).row).toBe(-1);
    expect(pick(layout, x(60), dotAt(layout, store, 31).y).row).toBe(31);
  });

  it('leaves room for the others regardless of its number of rows', () => {
    const { rows } = lay3(['A']);
    expect(rows!.edge).toBeLessThanOrEqual(180);
    expect(rows!.lanes[0]!.rows).toBeGreaterThan(3);
    expect(lay3(['A', 'B', 'C']).rows!.edge).toBeLessThanOrEqual(180);
  });

  it('is first if all lanes fit', () => {
    const strips = lay3(['B'], 0, []);
    expect(tops(strips)[1]).toBe(0);
    expect(strips.rows!.edge).toBe(0);
  });
});
