/** Numeric attributes over time: lines of values, and summaries of intervals. */
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
  /** Color group of the line; −1 without grouping. */
  group: number;
  points: readonly Point[];
}

interface Lines {
  lines: readonly Line[];
  /** Number of events with and without a value. */
  count: number;
  without: number;
  /** Whether the points of a line are joined. */
  isJoined: boolean;
}

/** Maximum number of actors with lines; with more, lines would overlap and only points are drawn. */
const JOINED_MAX = 60;

/** Returns the values of a store as lines: one per actor and group, so that the values of two storms are not joined. */
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
  // Without actors, events with mostly different titles are unrelated and must not be joined.
  const isMixed = actors.has('') && (actors.size > 1 || titles.size * 2 > count);
  return { lines: [...found.values()], count, without, isJoined: actors.size <= JOINED_MAX && !isMixed };
}

/** Summary of the values in a time interval. */
export interface Interval {
  from: Micros;
  to: Micros;
  low: number;
  high: number;
  mean: number;
  count: number;
  /** Whether the service returned all values; otherwise only the most frequent ones. */
  isAll: boolean;
  /** Count of each value, in ascending order of values. */
  values: readonly { value: number; count: number }[];
}

/** Summarizes groups that the service counted by value; null if none is a number. */
export function summarized(
  range: { from: Micros; to: Micros },
  groups: ReadonlyMap<string, number>,
  isAll: boolean,
): Interval | null {
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

/** Summary of points or intervals. */
type Sum = Pick<Interval, 'low' | 'high' | 'mean' | 'count' | 'isAll'>;

/** Combines summaries; null if there are none. */
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

/** Returns the summary of a single point. */
export const sumOfOne = ({ value }: Pick<Point, 'value'>): Sum => ({
  low: value,
  high: value,
  mean: value,
  count: 1,
  isAll: true,
});

/** Formats the range of values. */
export const reachText = ({ low, high }: Pick<Sum, 'low' | 'high'>, unit = ''): string =>
  withUnit(`${numberText(low)} to ${numberText(high)}`, unit);

/** Formats a mean. */
export const meanText = (mean: number, unit = ''): string => withUnit(numberText(Number(mean.toPrecision(4))), unit);

/** Describes a summary: range, mean and count. */
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
  /** Whether the scale is logarithmic. */
  isLog: boolean;
}

/** Minimum share of the scale that the values must fill if it starts at zero; otherwise it starts elsewhere. */
const FILLED_SHARE_MIN = 0.4;

/** Target number of lines between the lowest and the highest value. */
const LINES = 3;

/** Maximum empty share at an end of the scale; beyond it, the scale ends within a step. */
const EMPTY_SHARE_MAX = 0.15;
/** Number of parts of such a step. */
const SUBSTEPS = 5;

/** Returns a scale for some values; null if there are none. */
export function scaleAround(values: readonly number[], isLog = false): ValueScale | null {
  const [least, most] = values.reduce(
    ([low, high], value) => [Math.min(low, value), Math.max(high, value)],
    [Infinity, -Infinity],
  );
  return least > most ? null : valueScale(least, most, LINES, isLog);
}

/**
 * Returns a scale for a range of values. A linear scale includes zero unless all values are far from it. A logarithmic
 * scale requires positive values.
 */
export function valueScale(least: number, most: number, lines: number, isLog = false): ValueScale {
  if (isLog && least > 0) return logScale(least, most, lines);
  const span = most - least;
  const fromZero = Math.max(most, 0) - Math.min(least, 0);
  const hasZero = fromZero === 0 || span >= fromZero * FILLED_SHARE_MIN || (least <= 0 && most >= 0);
  const [from, to] = hasZero ? [Math.min(least, 0), Math.max(most, 0)] : [least, most];
  const step = niceStep(Math.max(to - from, Math.abs(to) * 1e-9, Number.MIN_VALUE * 8) / Math.max(lines, 1));
  const [first, last] = [Math.floor(from / step + 1e-9), Math.ceil(to / step - 1e-9)];
  const end = last > first ? last : first + 1;
  const ticks = Array.from({ length: end - first + 1 }, (_, index) => trimmed((first + index) * step));
  const whole = { low: first * step, high: end * step, ticks, hasZero, isLog: false };
  return from < to ? withTightEnds(whole, from, to, step) : whole;
}

/** Shortens a scale if its first or last step would be mostly empty: −43 does not need −500. */
function withTightEnds(whole: ValueScale, from: number, to: number, step: number): ValueScale {
  const substep = step / SUBSTEPS;
  const isTooEmpty = (room: number) => room > (whole.high - whole.low) * EMPTY_SHARE_MAX;
  const low = isTooEmpty(from - whole.low) ? trimmed(Math.floor(from / substep + 1e-9) * substep) : whole.low;
  const high = isTooEmpty(whole.high - to) ? trimmed(Math.ceil(to / substep - 1e-9) * substep) : whole.high;
  const ticks = whole.ticks.filter((tick) => tick >= low && tick <= high);
  // A scale needs at least two ticks.
  return ticks.length < 2 ? whole : { ...whole, low, high, ticks };
}

/** Returns a logarithmic scale between round numbers. */
function logScale(least: number, most: number, lines: number): ValueScale {
  const high = niceStep(most);
  // The round number below a value is the inverse of the round number above its inverse.
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

/** Returns the share of a scale below a value. */
export function shareBelow({ low, high, isLog }: ValueScale, value: number): number {
  return isLog ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
}
