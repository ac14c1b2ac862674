import { describe, expect, it } from 'vitest';
import { fitted } from '../../../lib/chart/scale';
import { EventStore } from '../../../lib/events/store';
import type { Palette } from '../../../lib/chart/palette';
import { picture, type PictureInput } from './picture';
import { summarized, type Interval } from '../values/values';

const DAY = 86_400_000_000n;
const palette = new Proxy({}, { get: (_, name) => String(name) }) as Palette;
const view = fitted(0n, 100n * DAY, 1_000, 0);

function storms(): EventStore {
  const store = new EventStore();
  for (const [actor, day, wind] of [
    ['A', 10, 40],
    ['A', 20, 80],
    ['A', 30, 60],
    ['B', 50, 100],
    ['B', 60, 20],
  ] as const)
    store.push({
      event_id: `${actor}-${day}`,
      time: new Date(day * 86_400_000).toISOString(),
      name: `Storm ${actor}`,
      description: '',
      actors: [actor],
      attributes: { wind },
    });
  return store;
}

const inputOf = (store: EventStore, values: PictureInput['values']): PictureInput => ({
  title: 'T',
  view,
  extent: null,
  store,
  legend: null,
  groups: null,
  series: null,
  counts: null,
  isLog: false,
  order: [],
  isSplit: false,
  values,
  notes: [],
});

describe('values in an exported picture', () => {
  const exported = (measured: (Interval | null)[] | null, store = storms()): ReturnType<typeof picture> =>
    picture(inputOf(store, { measure: 'wind <kt>', measured, intervalText: '1 day', unit: '', isLog: false }), palette);

  it('are a line per actor, with a summary', () => {
    const { svg } = picture(
      inputOf(storms(), { measure: 'wind', measured: null, intervalText: '', unit: 'kt', isLog: false }),
      palette,
    );
    const lines = [...svg.matchAll(/<polyline points="([^"]*)"/g)].map(([, points]) => points!.split(' '));
    expect(lines.map((points) => points.length)).toEqual([3, 2]);
    expect(svg).toContain('wind: 20 to 100\u00a0kt, 60\u00a0kt on average; 5 values');
    // The higher value is higher up.
    const [weak, strong] = lines[0]!.map((point) => Number(point.split(',')[1]));
    expect(strong).toBeLessThan(weak!);
  });

  it('make the picture higher and keep the notes at the bottom', () => {
    const without = picture(inputOf(storms(), null), palette);
    const { height, svg } = exported(null);
    expect(height).toBeGreaterThan(without.height + 100);
    expect(svg).not.toContain('<kt>');
    const lowest = Math.max(
      ...[...svg.matchAll(/<polyline points="([^"]*)"/g)].flatMap(([, points]) =>
        points!.split(' ').map((point) => Number(point.split(',')[1])),
      ),
    );
    expect(lowest).toBeLessThan(height - 30);
  });

  it('are drawn as a distribution per interval if they are aggregated', () => {
    const interval = summarized(
      { from: 0n, to: DAY * 10n },
      new Map([
        ['10', 5],
        ['30', 1],
      ]),
      true,
    );
    const { svg } = exported([interval, null], new EventStore());
    expect(svg).toContain('10 to 30, 13.33 on average; 6 values · in intervals of 1 day');
    expect(svg).not.toContain('<polyline');
    // Two cells, and a line from the minimum to the maximum: the gap between them is not shaded.
    const widths = [...svg.matchAll(/width="([^"]*)" height="[^"]*" fill="accent" fill-opacity/g)].map(
      ([, wide]) => wide,
    );
    expect(widths).toEqual(['1', '99', '99']);
  });

  it('report that there are none', () => {
    expect(exported([], new EventStore()).svg).toContain('no numbers in view');
  });
});
