import { describe, expect, it } from 'vitest';
import { countStore } from '../../../lib/events/counts';
import { ALL } from '../../../lib/events/filter';
import { FIRST, LAST, fitted } from '../../../lib/chart/scale';
import { stepOf } from '../../../lib/events/steps';
import { EventStore } from '../../../lib/events/store';
import type { Palette } from '../../../lib/chart/palette';
import { groupsOfStore } from '../groups/groups';
import { legendOf } from '../groups/legend';
import { barOf } from './lanes';
import { picture, type PictureInput } from './picture';

const DAY = 86_400_000_000n;
const palette = new Proxy({}, { get: (_, name) => String(name) }) as Palette;
const view = fitted(0n, 100n * DAY, 1_000, 0);

/** Events of a source, as pairs of start and end day; equal days make an event without duration. */
function storeOf(...all: [string, number, number][]): EventStore {
  const store = new EventStore();
  const text = (day: number): string => new Date(day * 86_400_000).toISOString();
  all.forEach(([source, from, to], index) =>
    store.push({
      event_id: `e${index}`,
      time: text(from),
      end_time: text(to),
      name: `Of ${source}`,
      description: '',
      source,
    }),
  );
  return store;
}

function inputOf(store: EventStore, more: Partial<PictureInput> = {}): PictureInput {
  const legend = legendOf(store, ALL, 'source', { from: FIRST, to: LAST });
  const groups = groupsOfStore(store, legend);
  const none = { extent: null, series: null, counts: null, isLog: false, order: [], values: null, notes: [] };
  return { title: 'T', view, store, legend, groups, isSplit: true, ...none, ...more };
}
/** Returns an attribute of all elements with a fill color. */
const at = (svg: string, color: string, element: string, attribute: string): number[] =>
  [...svg.matchAll(new RegExp(`<${element} [^>]*fill="${color}"[^>]*>`, 'g'))].map(([tag]) =>
    Number(new RegExp(` ${attribute}="([^"]+)"`).exec(tag)?.[1]),
  );

describe('lanes of an exported picture', () => {
  it('stack overlapping events and have names', () => {
    const store = storeOf(['A', 0, 50], ['A', 10, 60], ['B', 20, 80]);
    const { svg, height } = picture(inputOf(store), palette);
    const bars = at(svg, 'hue-1', 'rect', 'width').filter((width) => width > 100);
    expect(bars.map(Math.round)).toEqual([499, 499]);
    const rows = new Set(at(svg, 'hue-1', 'rect', 'y'));
    expect(rows.size).toBeGreaterThanOrEqual(3);
    expect(svg.match(/>Of A</g)?.length).toBe(2);
    for (const name of ['A', 'B']) expect(svg).toContain(`font-weight="600" fill="ink">${name}</text>`);
    // The last lane is above the axis.
    expect(Math.max(...at(svg, 'hue-2', 'rect', 'y').slice(0, -1))).toBeLessThan(height - 76);
    // Without lanes there are no lane names.
    expect(picture(inputOf(store, { isSplit: false }), palette).svg).not.toContain('font-weight="600" fill="ink">A<');
  });

  it('draw events without duration as dots on their line, and ungrouped events in a separate lane', () => {
    const sources = Array.from({ length: 9 }, (_, index): [string, number, number] => [`S${index}`, index, index]);
    const { svg } = picture(inputOf(storeOf(...sources, ['S0', 50, 50], ['S0', 50, 50])), palette);
    expect(at(svg, 'hue-1', 'circle', 'cx').map(Math.round)).toEqual([0, 500, 500]);
    expect(new Set(at(svg, 'hue-1', 'circle', 'cy')).size).toBe(2);
    expect([at(svg, 'faint', 'circle', 'cx').length, svg.includes('>others</text>')]).toEqual([1, true]);
  });

  it('draw the counts of each group at one scale', () => {
    const store = storeOf(['A', 10, 10], ['A', 10, 10], ['A', 10, 10], ['A', 10, 10], ['B', 10, 10]);
    const step = stepOf(Number(DAY) * 2);
    const counts = countStore(store, step);
    const series = ['A', 'B'].map((key) => countStore(store, step, (row) => store.bodies[row]!.source === key));
    const { svg } = picture(
      inputOf(new EventStore(), { ...inputOf(store), store: new EventStore(), counts, series }),
      palette,
    );
    const tall = (color: string): number => Math.max(...at(svg, color, 'rect', 'height'));
    expect(tall('hue-1') / tall('hue-2')).toBeCloseTo(4, 1);
  });

  it('report omitted rows', () => {
    const many = Array.from({ length: 90 }, (_, index): [string, number, number] => ['A', index / 10, 99]);
    expect(picture(inputOf(storeOf(...many)), palette).svg).toContain('10 more rows');
  });
});

it('a bar has one height over its full width and is fainter outside the extent', () => {
  const spans = [
    { x: 10, width: 4, alpha: 1 },
    { x: 14, width: 6, alpha: 0.4 },
  ];
  expect(barOf(spans, { top: '5', high: '20', color: '#123' }, String)).toBe(
    '<rect x="10" width="4" y="5" height="20" fill="#123"/>' +
      '<rect x="14" width="6" y="5" height="20" fill="#123" fill-opacity="0.4"/>',
  );
});
