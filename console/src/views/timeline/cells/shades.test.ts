import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Cells } from './cells';
import { classText, classesBy, mixed, shadeOf, shadeScale, shaded, usedClasses } from './shades';

const counted = (...counts: number[]): Cells => ({
  resolution: 1,
  cells: counts.map((count, index) => ({ key: `${index}`, count, west: index, south: 0, east: index + 1, north: 1 })),
  classes: [1, 2, 5, 10, 20],
  placed: 0,
  total: 0,
});

describe('classes of a scale', () => {
  it('have equal size for a linear scale, starting at zero', () => {
    expect(classesBy('linear', [1, 40, 907])).toEqual([1, 200, 400, 600, 800]);
    expect(classesBy('linear', [1, 5])).toEqual([1, 2, 3, 4]);
  });

  it('grow quadratically or by a factor', () => {
    expect(classesBy('sqrt', [3, 1_000])).toEqual([1, 40, 160, 360, 640]);
    expect(classesBy('log', [1, 100_000])).toEqual([1, 10, 100, 1_000, 10_000]);
    expect(classesBy('log', [40, 4_000])).toEqual([40, 100, 250, 630, 1_600]);
  });

  it('have equal numbers of cells for quantiles, without duplicate bounds', () => {
    const counts = Array.from({ length: 100 }, (_, index) => (index + 1) ** 2);
    const classes = classesBy('quantiles', counts);
    expect(classes).toEqual([1, 441, 1_681, 3_721, 6_561]);
    expect(classesBy('quantiles', [1, 1, 1, 1, 1, 1, 1, 1, 1, 7])).toEqual([1]);
  });

  it('are automatic without a choice', () => {
    expect(classesBy(null, [1, 907])).toEqual([1, 5, 20, 100, 500]);
    expect([shadeScale('sqrt'), shadeScale('best'), shadeScale(null)]).toEqual(['sqrt', null, null]);
  });

  it('are those of all counted cells during playback', () => {
    const [part, whole] = [counted(1), counted(1, 907)];
    expect(shaded(part, whole, 'linear')?.classes).toEqual([1, 200, 400, 600, 800]);
    expect(shaded(part, whole, null)).toBe(part);
    expect(shaded(null, whole, 'linear')).toBeNull();
  });
});

it('a legend lists the used classes with their exact bounds', () => {
  expect(usedClasses(counted(1, 7, 9, 34)).map(classText)).toEqual(['1', '5–9', '20–34']);
  expect(usedClasses(counted(6))).toEqual([{ index: 2, least: 6, most: 6 }]);
  expect(usedClasses(counted(117_127)).map(classText)).toEqual(['117,127']);
  expect(usedClasses(counted(6, 7)).map(classText)).toEqual(['5–9']);
  expect(usedClasses({ ...counted(20_000, 1), classes: [1, 10_000] }).map(classText)).toEqual([
    '1–9,999',
    '10,000–20,000',
  ]);
});

describe('lightest shade', () => {
  const css = readFileSync(new URL('../../../app.css', import.meta.url), 'utf8');
  /** A color token of the page as red, green and blue. */
  const token = (name: string, theme: 0 | 1): number[] => {
    const found = new RegExp(`--${name}: light-dark\\(#(\\w{6}), #(\\w{6})\\)`).exec(css)![theme + 1]!;
    return [0, 2, 4].map((at) => Number.parseInt(found.slice(at, at + 2), 16));
  };
  const bright = (color: number[]): number =>
    color.reduce((sum, part, index) => {
      const share = part / 255;
      return (
        sum + [0.2126, 0.7152, 0.0722][index]! * (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4)
      );
    }, 0);
  const contrast = (a: number[], b: number[]): number => {
    const [low, high] = [bright(a), bright(b)].sort((x, y) => x - y) as [number, number];
    return (high + 0.05) / (low + 0.05);
  };

  for (const theme of [0, 1] as const)
    it(`differs from land and water, ${theme === 0 ? 'light' : 'dark'}`, () => {
      const [water, land] = [token('sunken', theme), token('line', theme)];
      const rgb = (color: number[]): string => `rgb(${color.join(', ')})`;
      // While groups are counted, the color is gray.
      for (const name of ['accent', 'faint']) {
        const shade = mixed(rgb(token(name, theme)), rgb(water), shadeOf(0, 5))
          .match(/\d+/g)!
          .map(Number);
        // A few events at sea must not look like an island, nor events on an island like the sea.
        for (const ground of [water, land]) expect(contrast(shade, ground), name).toBeGreaterThan(1.18);
      }
    });

  it('is the same over land and water', () => {
    expect(mixed('rgb(60, 75, 201)', 'rgb(239, 237, 230)', 0.5)).toBe('rgb(150 156 216)');
    expect(mixed('rgb(60, 75, 201)', 'rgb(239, 237, 230)', 1)).toBe('rgb(60 75 201)');
  });
});
