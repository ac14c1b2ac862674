/** Maps counts of cells to shades and lists the classes for the legend. */
import { niceStep } from '../../../lib/chart/nice';
import { classOf, classesOf, type Cells } from './cells';

/** Selectable scales, with their URL value and label. Without a choice, bounds are round numbers. */
export const SCALES = [
  ['linear', 'Linear'],
  ['sqrt', 'Square root'],
  ['log', 'Logarithmic'],
  ['quantiles', 'Quantiles'],
] as const;

export type ShadeScale = (typeof SCALES)[number][0];

const CLASSES_COUNT = 5;

/** Returns the scale named in the address; null for the automatic one. */
export function shadeScale(text: string | null): ShadeScale | null {
  return SCALES.find(([name]) => name === text)?.[0] ?? null;
}

/** Returns the lower bounds of the classes in ascending order. Equal bounds are merged. */
export function classesBy(scale: ShadeScale | null, counts: readonly number[]): number[] {
  if (scale === null || counts.length === 0) return classesOf(counts);
  const sorted = [...counts].sort((a, b) => a - b);
  const [least, most] = [sorted[0]!, sorted.at(-1)!];
  const begins = Array.from({ length: CLASSES_COUNT }, (_, index): number => {
    if (index === 0) return Math.min(1, least);
    const part = index / CLASSES_COUNT;
    switch (scale) {
      case 'linear':
        return index * niceStep(Math.max(1, most / CLASSES_COUNT));
      case 'sqrt':
        return readable(most * part ** 2);
      case 'log':
        return readable(least * (most / least) ** part);
      case 'quantiles':
        // Quantile, as exact as equal counts allow.
        return sorted[Math.floor(sorted.length * part)]!;
    }
  });
  begins[0] = scale === 'linear' || scale === 'sqrt' ? 1 : least;
  return [...new Set(begins.map((begin) => Math.max(1, begin)))].sort((a, b) => a - b);
}

/** Rounds a bound up to two significant digits. */
const readable = (bound: number): number => Math.ceil(Number(bound.toPrecision(2)));

/** Applies the classes of a scale, computed from all counted cells, to the visible cells. */
export function shaded(visible: Cells | null, whole: Cells | null, scale: ShadeScale | null): Cells | null {
  if (visible === null || whole === null || scale === null) return visible;
  return {
    ...visible,
    classes: classesBy(
      scale,
      whole.cells.map(({ count }) => count),
    ),
  };
}

interface ShadeClass {
  /** Index among all classes. */
  index: number;
  least: number;
  most: number;
}

/**
 * Returns the classes that contain cells, with their bounds; if all cells have the same count, a single class of that
 * count.
 */
export function usedClasses({ cells, classes }: Cells): ShadeClass[] {
  const highest = cells.reduce((most, { count }) => Math.max(most, count), 0);
  if (highest > 0 && cells.every(({ count }) => count === highest))
    return [{ index: classOf(highest, classes), least: highest, most: highest }];
  const used = new Set(cells.map(({ count }) => classOf(count, classes)));
  return classes.flatMap((least, index) =>
    used.has(index) ? [{ index, least, most: Math.max(least, (classes[index + 1] ?? highest + 1) - 1) }] : [],
  );
}

/** Formats the bounds of a class: "5–19". */
export function classText({ least, most }: ShadeClass): string {
  const [low, high] = [least.toLocaleString('en'), most.toLocaleString('en')];
  return least === most ? low : `${low}–${high}`;
}

/** Share of the color in each class. The lightest stays distinct from water and land, in the dark theme, too. */
const CLASS_SHARES = [0.48, 0.61, 0.74, 0.87, 1] as const;

/** Returns the share of the color in a class. Fewer classes span the full range, too. */
export function shadeOf(index: number, classes: number): number {
  const last = CLASS_SHARES.length - 1;
  return CLASS_SHARES[classes <= 1 ? last : Math.round((index * last) / (classes - 1))]!;
}

/** Mixes a color with that of the sea, like `color-mix()` in the legend. The result is the same over land. */
export function mixed(color: string, sea: string, share: number): string {
  const [own, ground] = [color, sea].map((text) => text.match(/[\d.]+/g)?.map(Number) ?? []) as [number[], number[]];
  const parts = [0, 1, 2].map((at) => Math.round((own[at] ?? 0) * share + (ground[at] ?? 0) * (1 - share)));
  return `rgb(${parts.join(' ')})`;
}
