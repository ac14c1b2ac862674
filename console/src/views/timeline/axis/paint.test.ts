import { describe, expect, it } from 'vitest';
import { fitted, panned, xOf, type Scale } from '../../../lib/chart/scale';
import { EventStore } from '../../../lib/events/store';
import type { Palette } from '../../../lib/chart/palette';
import type { Layout } from './picture';
import { layOut } from './layout';
import { paintSummary } from './over-paint';
import { paintRuler, paintSheet, paintSliding } from './paint';

const WIDTH = 1_000;
const DAY = 86_400_000_000n;
const PALETTE = new Proxy({}, { get: () => '#000' }) as Palette;

/** A canvas context that records the drawn text and its position. */
function paper(wide: (text: string) => number = () => 0): {
  context: CanvasRenderingContext2D;
  written: { text: string; x: number }[];
} {
  const written: { text: string; x: number }[] = [];
  const known: Record<string, unknown> = {
    fillText: (text: string, x: number) => written.push({ text, x }),
    measureText: (text: string) => ({ width: wide(text) }),
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
  return { context: context as unknown as CanvasRenderingContext2D, written };
}

/** Events with a duration, given in days. */
function lasting(...spans: [string, number, number][]): EventStore {
  const created = new EventStore();
  const text = (day: number): string => new Date(day * 86_400_000).toISOString();
  for (const [name, from, to] of spans)
    created.push({ event_id: name, name, time: text(from), end_time: text(to), description: '' });
  return created;
}

const lay = (store: EventStore, scale: Scale): Layout =>
  layOut({
    store,
    scale,
    strips: { ys: [0], groups: null, above: 200, base: 0 },
    below: 120,
    margin: 600,
    measure: (letters) => letters.length * 6,
    selected: -1,
  });

/** Text drawn on the sheet of a layout, and text added for a view; the layout may be from an older view. */
function labels(store: EventStore, layout: Layout, view: Scale) {
  const [sheet, picture] = [paper(), paper()];
  const scene = { layout, store, palette: PALETTE, marks: new Map(), colors: () => '#000' };
  // Dots need a document.
  paintSheet(sheet.context, { ...scene, layout: { ...layout, isDots: false } }, 0);
  const left = xOf(view, layout.scale.center) + layout.from;
  const frame = { context: picture.context, palette: PALETTE, scale: view, extent: null, height: 300, base: 150 };
  paintSliding(frame, layout, left);
  return { sheet: sheet.written.map(({ text }) => text), view: picture.written };
}

describe('labels of events with a duration', () => {
  const view = fitted(450n * DAY, 550n * DAY, WIDTH, 0);

  it('stay in view if the event started before the view', () => {
    const store = lasting(['Reign', 0, 600]);
    const { sheet, view: placed } = labels(store, lay(store, view), view);
    expect(sheet).toEqual([]);
    expect(placed).toEqual([{ text: 'Reign', x: 7 }]);
  });

  it('stay in view while the view is dragged over the sheet', () => {
    const store = lasting(['Reign', 460, 600]);
    const layout = lay(store, view);
    expect(labels(store, layout, view).view[0]!.x).toBeCloseTo(107, 3);
    expect(labels(store, layout, panned(view, 400)).view).toEqual([{ text: 'Reign', x: 7 }]);
  });

  it('move out with the end of the bar and never extend beyond it', () => {
    const store = lasting(['Reign', 0, 452]);
    // 20 pixels of the bar are left; the padded text takes 46.
    expect(labels(store, lay(store, view), view).view[0]!.x).toBeCloseTo(20 - 46 + 7, 3);
    expect(labels(store, lay(store, view), panned(view, 60)).view).toEqual([]);
  });

  it('are on the sheet if the view cannot start in their bar, or the bar is no longer than the label', () => {
    const store = lasting(['Far on the right', 545, 700], ['A name that is longer than its bar', 455, 457]);
    const { sheet, view: placed } = labels(store, lay(store, view), view);
    expect(sheet.sort()).toEqual(['A name that is longer than its bar', 'Far on the right'].map(shortened).sort());
    expect(placed).toEqual([]);
  });
});

const shortened = (text: string): string => (text.length > 34 ? `${text.slice(0, 33)}…` : text);

it('a selected event without a dot is named next to its time', () => {
  const view = fitted(0n, 100n * DAY, WIDTH, 0);
  const written = (time: bigint | null, end: bigint | null = null): { text: string; x: number }[] => {
    const { context, written: found } = paper();
    const frame = { context, palette: PALETTE, scale: view, extent: null, height: 300, base: 150 };
    paintSummary(frame, { event_id: 'e', title: 'UA 1545', time, end, at: null });
    return found;
  };
  expect(written(20n * DAY)).toEqual([{ text: 'UA 1545', x: 206 }]);
  // On the left, where there is more room.
  expect(written(90n * DAY)).toEqual([{ text: 'UA 1545', x: 894 }]);
  // An event that started earlier and has not ended is in view.
  expect(written(-20n * DAY, 20n * DAY)).toEqual([{ text: 'UA 1545', x: 6 }]);
  expect([...written(-20n * DAY), ...written(120n * DAY), ...written(null)]).toEqual([]);
});

describe('ruler periods', () => {
  it('are drawn whole: the first is dropped before the edge would cut it', () => {
    for (let shift = 0; shift < 200; shift += 5) {
      const { context, written } = paper((text) => text.length * 7);
      const period = (x: number, label: string) => ({ time: 0n, x, label, isMajor: true });
      const scale = fitted(0n, DAY, WIDTH, 0);
      const frame = { context, palette: PALETTE, scale, extent: null, height: 300, base: 150 };
      paintRuler(frame, { ticks: [], periods: [period(-50, 'January 2018'), period(200 - shift, 'February 2018')] });
      for (const { x } of written) expect(x).toBeGreaterThanOrEqual(0);
      expect(written.map(({ text }) => text)).toContain('February 2018');
      if (shift < 90) expect(written[0]).toEqual({ text: 'January 2018', x: 10 });
    }
  });
});
