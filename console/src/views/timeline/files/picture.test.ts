import { describe, expect, it } from 'vitest';
import { fitted } from '../../../lib/chart/scale';
import { EventStore } from '../../../lib/events/store';
import type { Palette } from '../../../lib/chart/palette';
import { plain } from '../../../lib/text/plain';
import { picture, type PictureInput } from './picture';

const HOUR = 3_600_000_000n;
const palette = new Proxy({}, { get: (_, name) => String(name) }) as Palette;

/** Events without duration, given in hours after 30 January 2018, 21:00. The picture shows 8 days. */
const BEGIN = Date.UTC(2018, 0, 30, 21);
const view = fitted(BigInt(BEGIN) * 1_000n, BigInt(BEGIN) * 1_000n + 192n * HOUR, 1_000, 0);

function inputOf(hours: readonly number[], name = 'M', scale = view): PictureInput {
  const store = new EventStore();
  for (const [index, hour] of hours.entries()) {
    const time = new Date(BEGIN + hour * 3_600_000).toISOString();
    store.push({ event_id: `e${index}`, time, name, description: '' });
  }
  return {
    title: 'T',
    view: scale,
    extent: null,
    counts: null,
    store,
    legend: null,
    series: null,
    groups: null,
    isLog: false,
    order: [],
    isSplit: false,
    values: null,
    notes: [],
  };
}
const dotsOf = (svg: string): [number, number][] =>
  [...svg.matchAll(/<circle cx="([^"]*)" cy="([^"]*)"/g)].map(([, x, y]) => [Number(x), Number(y)]);
const textsOf = (svg: string, pattern: RegExp): { x: number; words: string }[] =>
  [...svg.matchAll(/<text x="([^"]*)" y="[^"]*" ([^>]*)>([^<]*)</g)]
    .filter(([, , attributes]) => pattern.test(attributes!))
    .map(([, x, , words]) => ({ x: Number(x), words: words! }));

describe('an exported picture of the axis', () => {
  it('stacks a dot on others at its time, and no other', () => {
    const apart = Array.from({ length: 20 }, (_, index) => index * 8);
    const { svg } = picture(inputOf([...apart, ...Array<number>(9).fill(161)]), palette);
    const dots = dotsOf(svg);
    const ground = Math.max(...dots.map(([, y]) => y));
    expect(new Set(dots.slice(0, 20).map(([, y]) => y))).toEqual(new Set([ground]));
    const pile = dots.slice(20);
    expect(new Set(pile.map(([x]) => x)).size).toBe(1);
    expect(new Set(pile.map(([, y]) => y)).size).toBe(9);
  });

  it('fits a stack of any height into the chart', () => {
    const dots = dotsOf(picture(inputOf(Array<number>(300).fill(40)), palette).svg);
    expect(Math.min(...dots.map(([, y]) => y))).toBeGreaterThan(60);
    expect(new Set(dots.map(([, y]) => y)).size).toBe(300);
  });

  it('has names that do not overlap, in as few lines as needed and within the picture', () => {
    const name = 'A name of thirty-one characters';
    const { svg } = picture(inputOf([0, 10, 20, 30, 80, 190], name), palette);
    const heights = dotsOf(svg).map(([, y]) => y);
    expect(new Set(heights.slice(0, 4)).size).toBe(4);
    expect([heights[4], heights[5]]).toEqual([heights[0], heights[0]]);
    expect(svg).toMatch(/text-anchor="end"[^>]*>A name/);
  });

  it('has no truncated date labels', () => {
    const texts = textsOf(picture(inputOf([]), palette).svg, /fill="muted"/).slice(1);
    for (const { x, words } of texts) expect(x + words.length * 6).toBeLessThan(1_000);
    const hours = fitted(BigInt(BEGIN) * 1_000n, BigInt(BEGIN) * 1_000n + 50n * HOUR, 1_000, 0);
    const days = textsOf(picture(inputOf([], 'M', hours), palette).svg, /font-size="11"/).filter(({ words }) =>
      words.endsWith(' 2018'),
    );
    expect(days.map(({ words }) => words)).toEqual(['31 January 2018', '1 February 2018']);
    expect(days[0]!.x).toBeCloseTo(63, 0);
  });

  it('contains no character that XML forbids', () => {
    const of = (texts: Partial<PictureInput>, name = 'M'): string =>
      picture({ ...inputOf([5], name), ...texts }, palette).svg;
    const controls = Array.from({ length: 0x20 }, (_, code) => String.fromCharCode(code));
    for (const [forbidden, written] of [
      ...controls.filter((control) => !'\t\n\r'.includes(control)).map((control) => [control, plain(control)] as const),
      ['\u202e', '⟨U+202E⟩'],
      ['\ud800', '\ufffd'],
      ['\udc00', '\ufffd'],
      ['\ufffe', '\ufffd'],
      ['\uffff', '\ufffd'],
    ] as [string, string][]) {
      const text = `a${forbidden}&`;
      const legend = { groups: [{ key: text, count: 3 }], others: 0 } as unknown as PictureInput['legend'];
      for (const svg of [of({ title: text }), of({ notes: [text] }), of({ legend }), of({}, text)]) {
        expect(svg, JSON.stringify(forbidden)).toContain(`a${written}&amp;`);
        expect(svg).not.toContain(forbidden);
      }
    }
    // A character of two code units and the allowed controls are written unchanged.
    expect(of({ notes: ['\u{1f680}\t\u{10ffff}'] })).toContain('>\u{1f680}\t\u{10ffff}<');
  });
});
