import { afterEach, describe, expect, it, vi } from 'vitest';
import { fitted } from '../../../lib/chart/scale';
import { EventStore } from '../../../lib/events/store';
import type { Palette } from '../../../lib/chart/palette';
import { LaneView } from '../lanes/lane-rows';
import type { Legend } from '../groups/groups';
import type { Lane } from '../lanes/lanes';
import * as over from './over-paint';
import { Surface, type Scene } from './surface';

const DAY = 86_400_000_000n;
const [WIDTH, HEIGHT] = [1_000, 600];

interface Drawn {
  /** Fork points on a line. */
  dots: { x: number; y: number }[];
  curves: { from: number; to: number }[];
  /** Lowest point of each shape that is filled from the flags down, such as the pole of an anchor. */
  poles: { x: number; end: number }[];
  /** Positions of the lane lines. */
  lines: number[];
}

/** A canvas that records how forks and anchors are drawn. */
function paper(): { canvas: HTMLCanvasElement; drawn: Drawn } {
  const drawn: Drawn = { dots: [], curves: [], poles: [], lines: [] };
  let at = 0;
  const known: Record<string, unknown> = {
    measureText: (text: string) => ({ width: text.length * 6 }),
    moveTo: (_: number, y: number) => (at = y),
    bezierCurveTo: (...to: number[]) => drawn.curves.push({ from: at, to: to[5]! }),
    arc: (x: number, y: number, radius: number) => radius === 3 && drawn.dots.push({ x, y }),
    fillRect: (x: number, y: number, width: number, height: number) => {
      if (width === 1.5) drawn.poles.push({ x, end: y + height });
      if (width === WIDTH && height === 1) drawn.lines.push(y);
    },
  };
  const context = new Proxy<Record<string, unknown>>(
    {},
    {
      get: (set, name: string) => known[name] ?? set[name] ?? (() => undefined),
      set: (set, name: string, value) => {
        set[name] = value;
        return true;
      },
    },
  );
  const canvas = { getContext: () => context, style: { setProperty: () => undefined } };
  return { canvas: canvas as unknown as HTMLCanvasElement, drawn };
}

/** Draws three lanes of events and their surroundings. */
function draw(events: { lasts: number }, lanes: readonly Lane[]): Drawn {
  const { canvas, drawn } = paper();
  vi.stubGlobal('document', { createElement: () => paper().canvas });
  vi.stubGlobal('devicePixelRatio', 1);
  const store = new EventStore();
  const text = (day: number): string => new Date(day * 86_400_000).toISOString();
  for (let day = 10; day < 90; day += 10)
    store.push({ event_id: `e${day}`, name: '', time: text(day), end_time: text(day + events.lasts), description: '' });
  const groups = Uint8Array.from({ length: store.count }, (_, row) => row % 3);
  const keys = ['one', 'two', 'three'];
  const legend = { groups: keys.map((key) => ({ key })), others: 0, classes: null } as unknown as Legend;
  const surface = new Surface(canvas);
  surface.palette = new Proxy({}, { get: () => '#000' }) as Palette;
  surface.resize(WIDTH, HEIGHT);
  drawn.lines.length = 0;
  const anchor = { anchor: {}, time: 50n * DAY } as Scene['anchors'][number];
  surface.paint({
    scale: fitted(0n, 100n * DAY, WIDTH, 0),
    extent: null,
    store,
    counts: null,
    isLog: false,
    legend,
    seriesSoFar: null,
    isColored: true,
    groups,
    isSplit: true,
    laneView: new LaneView(new Set(), 0),
    marks: new Map(),
    flashes: new Map(),
    anchors: [anchor],
    lanes,
    over,
    timers: null,
    range: null,
    now: null,
    playhead: null,
    selected: null,
    summary: null,
    hover: -1,
    hits: [],
    brush: null,
  });
  return drawn;
}

afterEach(() => vi.unstubAllGlobals());

describe.each([
  ['dots', 0],
  ['rows', 5],
])('lanes of %s', (_, lasts) => {
  const lines = (drawn: Drawn): number[] => drawn.lines.filter((y) => y > 80).sort((a, b) => a - b);

  it('forks and anchors extend below the last lane', () => {
    const fork = { timeline: 'fork', isParent: false, at: 40n * DAY };
    const drawn = draw({ lasts }, [fork, { ...fork, timeline: 'other', at: null }]);
    const last = lines(drawn).at(-1)!;
    expect(lines(drawn)).toHaveLength(3);
    expect(drawn.dots.map(({ x }) => Math.round(x))).toEqual([400, 0]);
    for (const { y } of drawn.dots) expect(y).toBeGreaterThanOrEqual(last);
    expect(drawn.poles[0]!.end).toBeGreaterThanOrEqual(last);
  });

  it('the parent joins at the top of the first lane', () => {
    const drawn = draw({ lasts }, [{ timeline: 'parent', isParent: true, at: 40n * DAY }]);
    const [first] = lines(drawn);
    expect(drawn.curves).toHaveLength(1);
    expect(drawn.curves[0]!.to).toBeGreaterThan(drawn.curves[0]!.from);
    expect(drawn.curves[0]!.to).toBeLessThan(first! - 20);
  });
});
