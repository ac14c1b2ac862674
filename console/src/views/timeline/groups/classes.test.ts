import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ALL } from '../../../lib/events/filter';
import { FIRST, LAST } from '../../../lib/chart/scale';
import { EventStore } from '../../../lib/events/store';
import { groupings, measures } from '../attributes/attributes';
import { classify, rampOf } from './classes';
import { OPACITY } from '../heat/heat-paint';
import { groupsOfStore, LARGEST, type Group } from './groups';
import { legendOf } from './legend';

const values = (...numbers: number[]): Group[] => numbers.map((number) => ({ key: String(number), count: 1 }));
const countsOf = (groups: Group[]): [string, number][] =>
  classify(groups, null)!.groups.map(({ key, count }) => [key, count]);

describe('numbers', () => {
  it('are divided into classes of equal size with round bounds and counts', () => {
    expect(countsOf(values(12, 37, 38, 99, 159))).toEqual([
      ['0 to 19', 1],
      ['20 to 39', 2],
      ['40 to 59', 0],
      ['60 to 79', 0],
      ['80 to 99', 1],
      ['100 to 119', 0],
      ['120 to 139', 0],
      ['140 to 159', 1],
    ]);
    expect(countsOf(values(0.1, 0.25, 0.3)).slice(0, 2)).toEqual([
      ['0.1 to <0.15', 1],
      ['0.15 to <0.2', 0],
    ]);
    // A value on a bound belongs to the class that starts there, despite binary rounding errors.
    expect(countsOf(values(0.1, 0.25, 0.3)).at(-1)).toEqual(['0.3 to <0.35', 1]);
  });

  it('are in no more classes than there are colors', () => {
    for (const numbers of [
      [1, 5],
      [0, 1e-9],
      [-7, 1e9],
      [0.001, 0.0011],
      [2, 8.1],
      [-40, 59],
      [1e12, 1e12 + 1],
    ])
      expect(countsOf(values(...numbers)).length).toBeLessThanOrEqual(8);
    expect(countsOf(values(1, 2, 3, 4, 5)).map(([key]) => key)).toEqual(['1', '2', '3', '4', '5']);
  });

  it('are classified only if most values are numbers', () => {
    const words = [...values(1, 2), { key: 'HU', count: 9 }];
    expect(classify(words, null)).toBeNull();
    expect(classify([{ key: 'n/a', count: 1 }, ...values(1, 2, 3, 4, 5)], null)?.groups).toHaveLength(5);
    expect(classify([], null)).toBeNull();
    // A single number has no classes.
    expect(classify(values(0), null)).toBeNull();
  });

  it('keep their classes while panning, as long as they fill them', () => {
    const { classes } = classify(values(3, 155), null)!;
    expect(classify(values(20, 130), classes)!.classes).toBe(classes);
    expect(classify(values(20, 40), classes)!.classes).not.toBe(classes);
    expect(classify(values(20, 400), classes)!.classes).not.toBe(classes);
  });

  it('color events by class, unless they are ids or chosen values', () => {
    const store = new EventStore();
    for (const [index, wind] of [30, 155, 45, 'calm', 91, 92, 93, 94, 95, 96].entries())
      store.push({
        event_id: `e${index}`,
        time: `2020-01-${String(index + 1).padStart(2, '0')}T00:00:00Z`,
        description: '',
        attributes: { wind, storm_id: index },
      });
    const span = { from: FIRST, to: LAST };
    const legend = legendOf(store, ALL, 'attribute.wind', span);
    expect(legend.groups.map(({ key }) => key)[0]).toBe('20 to 39');
    expect(legend.others).toBe(1);
    const groups = [...groupsOfStore(store, legend)];
    expect(groups[1]!).toBeGreaterThan(groups[4]!);
    expect([groups[0], groups[3]]).toEqual([0, legend.groups.length]);
    expect(legendOf(store, ALL, 'attribute.storm_id', span).classes).toBeNull();
    expect(legendOf(store, ALL, 'attribute.wind', span, null, { ...LARGEST, isEach: true }).classes).toBeNull();
    expect(legendOf(store, ALL, 'attribute.wind', span, null, { pins: ['91'], skip: 0 }).classes).toBeNull();
  });
});

describe('attributes', () => {
  it('are suggested at any nesting depth', () => {
    const bodies = [
      { event_id: '1', time: '', description: '', attributes: { sea: { wave: { height: 3 }, name: 'Kara' } } },
      { event_id: '2', time: '', description: '', attributes: { sea: { wave: { height: '4.5' } }, tags: ['a'] } },
    ];
    expect(measures(bodies)).toEqual(['sea.wave.height']);
    expect(groupings(bodies)).toEqual(['attribute.sea.wave.height', 'attribute.sea.name', 'attribute.tags']);
  });
});

describe('color ramp', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');
  const css = read('../../../app.css') + read('./ramp.css');
  const token = (name: string): [string, string] => {
    const found = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(css)!;
    return [found[1]!, found[2]!];
  };
  const light = (color: string): number =>
    [0.2126, 0.7152, 0.0722].reduce((sum, part, index) => {
      const value = parseInt(color.slice(1 + index * 2, 3 + index * 2), 16) / 255;
      return sum + part * (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    }, 0);
  const contrast = (a: string, b: string): number =>
    (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);

  it('contrasts with its background in both themes, more with each class', () => {
    for (const scheme of [0, 1] as const) {
      const colors = Array.from({ length: 8 }, (_, index) => token(`ramp-${index + 1}`)[scheme]);
      for (const ground of ['surface', 'ground'])
        for (const color of colors) expect(contrast(color, token(ground)[scheme])).toBeGreaterThanOrEqual(3);
      const steps = colors.map((color) => contrast(color, token('surface')[scheme]));
      for (const [index, step] of steps.slice(1).entries()) expect(step / steps[index]!).toBeGreaterThan(1.1);
    }
  });

  it('starts with a color visible on land and sea, including in the heat layer', () => {
    for (const scheme of [0, 1] as const)
      // Land on the map has the color of lines.
      for (const ground of ['sunken', 'line']) {
        const [own, under] = [token('ramp-1')[scheme], token(ground)[scheme]];
        const part = (color: string, at: number): number => parseInt(color.slice(1 + at * 2, 3 + at * 2), 16);
        const over = [0, 1, 2].map((at) => Math.round(part(own, at) * OPACITY + part(under, at) * (1 - OPACITY)));
        const seen = `#${over.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
        expect(contrast(seen, under), `${ground} ${scheme}`).toBeGreaterThanOrEqual(3);
      }
  });

  it('spans its full range with any number of classes', () => {
    expect([0, 1, 2].map((index) => rampOf(index, 3))).toEqual([1, 5, 8]);
    expect(Array.from({ length: 8 }, (_, index) => rampOf(index, 8))).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(rampOf(0, 1)).toBe(8);
  });
});
