/** Numbers that events have, over time: what lines are drawn through, and what a stretch of many is summed up to. */
import type { Micros } from '../../../lib/time/instant';
import { niceStep, trimmed } from '../../../lib/chart/nice';
import type { EventStore } from '../../../lib/events/store';
import { countText } from '../../../lib/events/words';
import { member } from '../groups/groups';
import { numberOf, numberText, withUnit } from '../attributes/numbers';

export interface Point {
  row: number;
  time: Micros;
  value: number;
}

export interface Line {
  /** Which color it has; −1 where nothing is told apart. */
  group: number;
  points: readonly Point[];
}

export interface Lines {
  lines: readonly Line[];
  /** How many events have a number, and how many have none. */
  count: number;
  without: number;
  /** Whether points of a line belong together, and are joined. */
  isJoined: boolean;
}

/** With more actors at once the lines would cover each other: then there are points only. */
const JOINED_MAX = 60;

/**
 * Returns the values of a store as lines: one for each actor, so that the values of two storms are not joined. Where
 * nobody is named, there is one for each group.
 */
export function linesOf(store: EventStore, key: string, groups: Uint8Array | null, part: [number, number]): Lines {
  const found = new Map<string, { group: number; points: Point[] }>();
  let [count, without] = [0, 0];
  const actors = new Set<string>();
  const titles = new Set<string>();
  for (let row = part[0]; row < part[1]; row += 1) {
    const event = store.bodies[row]!;
    const value = numberOf(member(event.attributes ?? {}, key));
    if (value === null) {
      without += 1;
      continue;
    }
    count += 1;
    const group = groups?.[row] ?? -1;
    const actor = event.actors?.[0] ?? '';
    actors.add(actor);
    titles.add(store.titles[row]!);
    const name = `${group} ${actor}`;
    const line = found.get(name) ?? { group, points: [] };
    line.points.push({ row, time: store.time(row), value });
    found.set(name, line);
  }
  // Where nobody is named, events that are all called otherwise are not one thing that changes.
  const isMixed = actors.has('') && (actors.size > 1 || titles.size * 2 > count);
  return { lines: [...found.values()], count, without, isJoined: actors.size <= JOINED_MAX && !isMixed };
}

/** What the numbers of a stretch of time are. */
export interface Stretch {
  from: Micros;
  to: Micros;
  low: number;
  high: number;
  mean: number;
  count: number;
  /** Whether the service told all values; where it did not, they are the most frequent ones. */
  isAll: boolean;
  /** How often each value is there, from the lowest to the highest. */
  values: readonly { value: number; count: number }[];
}

/** Sums up groups that the service counted by value; null where none of them is a number. */
export function summedUp(
  range: { from: Micros; to: Micros },
  groups: ReadonlyMap<string, number>,
  isAll: boolean,
): Stretch | null {
  const values: { value: number; count: number }[] = [];
  let [sum, count] = [0, 0];
  for (const [key, times] of groups) {
    const value = numberOf(key);
    if (value === null) continue;
    values.push({ value, count: times });
    sum += value * times;
    count += times;
  }
  if (count === 0) return null;
  values.sort((a, b) => a.value - b.value);
  const [low, high] = [values[0]!.value, values.at(-1)!.value];
  return { ...range, low, high, mean: sum / count, count, isAll, values };
}

/** What points, or stretches, are together. */
type Sum = Pick<Stretch, 'low' | 'high' | 'mean' | 'count' | 'isAll'>;

/** Sums up points or stretches; null where there are none. */
export function sumOf(parts: readonly Sum[]): Sum | null {
  const count = parts.reduce((all, part) => all + part.count, 0);
  if (count === 0) return null;
  return {
    count,
    low: parts.reduce((least, { low }) => Math.min(least, low), Infinity),
    high: parts.reduce((most, { high }) => Math.max(most, high), -Infinity),
    mean: parts.reduce((all, part) => all + part.mean * part.count, 0) / count,
    isAll: parts.every(({ isAll }) => isAll),
  };
}

/** Returns a point as what is summed up. */
export const sumOfOne = ({ value }: Pick<Point, 'value'>): Sum => ({
  low: value,
  high: value,
  mean: value,
  count: 1,
  isAll: true,
});

/** Says from where to where values reach. */
export const reachText = ({ low, high }: Pick<Sum, 'low' | 'high'>, unit = ''): string =>
  withUnit(`${numberText(low)} to ${numberText(high)}`, unit);

/** Says what their mean is. */
export const meanText = (mean: number, unit = ''): string => withUnit(numberText(Number(mean.toPrecision(4))), unit);

/** Says what values are together, and of how many. */
export function sumText(sum: Sum, unit = ''): string {
  const { mean, count, isAll } = sum;
  const values = `${reachText(sum, unit)}, ${meanText(mean, unit)} on average`;
  return `${values}; ${isAll ? countText(count, 'value') : `the most frequent values of ${countText(count, 'event')}`}`;
}

export interface ValueScale {
  low: number;
  high: number;
  ticks: readonly number[];
  /** Whether zero is on the scale. */
  hasZero: boolean;
  /** Whether equal distances are equal factors. */
  isLog: boolean;
}

/** So much of the scale the values have to fill; where they fill less when it begins at zero, it begins elsewhere. */
const FILLED = 0.4;

/** So many lines are between the lowest value and the highest. */
const LINES = 3;

/** A scale may leave so much of its room empty at an end; where it would be more, it ends at a part of a step. */
const WASTED = 0.15;
/** So many parts a step has then. */
const GRAINS = 5;

/** Makes the scale that some values are shown on; null where there are none. */
export function scaleAround(values: readonly number[], isLog = false): ValueScale | null {
  const [least, most] = values.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Infinity, -Infinity],
  );
  return least > most ? null : valueScale(least, most, LINES, isLog);
}

/**
 * Makes a scale around values. A linear one has zero on it, unless all values would be far from there; a logarithmic
 * one is made on request, where all values are above zero.
 */
export function valueScale(least: number, most: number, lines: number, isLog = false): ValueScale {
  if (isLog && least > 0) return logScale(least, most, lines);
  const span = most - least;
  const fromZero = Math.max(most, 0) - Math.min(least, 0);
  const hasZero = fromZero === 0 || span >= fromZero * FILLED || (least <= 0 && most >= 0);
  const [from, to] = hasZero ? [Math.min(least, 0), Math.max(most, 0)] : [least, most];
  const step = niceStep(Math.max(to - from, Math.abs(to) * 1e-9, Number.MIN_VALUE * 8) / Math.max(lines, 1));
  const [first, last] = [Math.floor(from / step + 1e-9), Math.ceil(to / step - 1e-9)];
  const end = last > first ? last : first + 1;
  const ticks = Array.from({ length: end - first + 1 }, (_, index) => trimmed((first + index) * step));
  const whole = { low: first * step, high: end * step, ticks, hasZero, isLog: false };
  return from < to ? withoutWaste(whole, from, to, step) : whole;
}

/** Ends a scale nearer to the values where little of its first or last step would be used: −43 does not need −500. */
function withoutWaste(whole: ValueScale, from: number, to: number, step: number): ValueScale {
  const grain = step / GRAINS;
  const isWasted = (room: number) => room > (whole.high - whole.low) * WASTED;
  const low = isWasted(from - whole.low) ? trimmed(Math.floor(from / grain + 1e-9) * grain) : whole.low;
  const high = isWasted(whole.high - to) ? trimmed(Math.ceil(to / grain - 1e-9) * grain) : whole.high;
  const ticks = whole.ticks.filter((tick) => tick >= low && tick <= high);
  // One line alone is no scale.
  return ticks.length < 2 ? whole : { ...whole, low, high, ticks };
}

/** Makes a scale from one round number to another on which each tenfold takes as much room. */
function logScale(least: number, most: number, lines: number): ValueScale {
  const high = niceStep(most);
  // The round number below a value is ten divided by the one above its inverse.
  const below = trimmed(1 / niceStep(1 / least));
  const low = below < high ? below : trimmed(high / 10);
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const powers = Array.from({ length: last - first + 1 }, (_, index) => trimmed(10 ** (first + index)));
  const isIn = (value: number): boolean => value >= low * 0.9999 && value <= high * 1.0001;
  const fine = powers.flatMap((power) => [1, 2, 5].map((digit) => trimmed(digit * power))).filter(isIn);
  const coarse = powers.filter(isIn);
  const each = Math.ceil(coarse.length / (lines + 2));
  const ticks = fine.length <= lines + 2 ? fine : coarse.filter((_, index) => index % each === 0);
  return { low, high, ticks, hasZero: false, isLog: true };
}

/** Returns which part of a scale is below a value. */
export function shareBelow({ low, high, isLog }: ValueScale, value: number): number {
  return isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}
