/** Divides numbers into classes of equal size with round bounds, to color small and large values differently. */
import { niceStep, trimmed } from '../../../lib/chart/nice';
import { COLORS, membersOf, type Classes, type Group, type Legend } from './groups';
import { numberOf, numberText } from '../attributes/numbers';

/** Minimum share of events with a numeric value; the remaining events count as others. */
const NUMBERS_MIN = 0.8;
/** Classes are kept while panning if the numbers fill this share of their range. */
const FILLED_MIN = 0.5;
/**
 * Maximum number of values to count over time: with this many, all buckets of an axis have about as many groups as a
 * response can contain.
 */
const COUNTED_VALUES_MAX = 40;

interface Classification {
  classes: Classes;
  groups: Group[];
}

/** Divides values into classes; null if most of them are not numbers or all are equal. */
export function classify(all: readonly Group[], before: Classes | null): Classification | null {
  const total = all.reduce((sum, { count }) => sum + count, 0);
  const numbers = all
    .flatMap((group) => {
      const number = numberOf(group.key);
      return number === null ? [] : [{ ...group, number }];
    })
    .sort((a, b) => a.number - b.number);
  const [least, most] = [numbers[0]?.number, numbers.at(-1)?.number];
  if (least === undefined || most === undefined || least === most) return null;
  if (numbers.reduce((sum, { count }) => sum + count, 0) < total * NUMBERS_MIN) return null;
  const classes = reused(before, least, most) ?? between(least, most);
  const isWhole = numbers.every(({ number }) => Number.isInteger(number)) && classes.size >= 1;
  const groups = Array.from({ length: classes.last - classes.first + 1 }, (_, index): Group => {
    const low = trimmed((classes.first + index) * classes.size);
    const high = trimmed((classes.first + index + 1) * classes.size);
    const own = numbers.filter(({ number }) => classOf(classes, number) === index);
    return {
      key: boundsText(low, high, isWhole),
      count: own.reduce((sum, { count }) => sum + count, 0),
      values: own.map(({ key }) => key),
    };
  });
  return { classes, groups };
}

/** Returns the class index of a value. */
function classOf({ size, first, last }: Classes, value: number): number {
  // Trim the quotient: a bound that is a binary fraction may be slightly too small.
  return Math.min(last, Math.floor(trimmed(value / size))) - first;
}

function between(least: number, most: number): Classes {
  let size = niceStep(Math.max((most - least) / COLORS, Math.max(Math.abs(least), Math.abs(most)) * 1e-9));
  for (;;) {
    const [first, last] = [least, most].map((end) => Math.floor(trimmed(end / size))) as [number, number];
    if (last - first < COLORS) return { size, first, last };
    size = niceStep(size * 1.5);
  }
}

/** Returns the previous classes if they fit the current numbers. */
function reused(before: Classes | null, least: number, most: number): Classes | null {
  if (before === null) return null;
  const { size, first, last } = before;
  const isInside = least >= first * size && most < (last + 1) * size;
  return isInside && most - least >= (last + 1 - first) * size * FILLED_MIN ? before : null;
}

function boundsText(low: number, high: number, isWhole: boolean): string {
  if (!isWhole) return `${numberText(low)} to <${numberText(high)}`;
  return high - low === 1 ? numberText(low) : `${numberText(low)} to ${numberText(high - 1)}`;
}

/** Whether there are too many distinct values to color counted events. */
export function hasTooManyValues({ groups }: Pick<Legend, 'groups'>): boolean {
  return groups.reduce((sum, group) => sum + membersOf(group).length, 0) > COUNTED_VALUES_MAX;
}

/** Returns the ramp color of a class, from 1. Few classes use the full ramp, too. */
export function rampOf(index: number, classes: number): number {
  return 1 + (classes === 1 ? COLORS - 1 : Math.round((index * (COLORS - 1)) / (classes - 1)));
}

/** Sets the group colors of the page to the ramp, or to the categorical colors if there are no classes. */
export function showRamp(classes: number | null): void {
  const { style, dataset } = document.documentElement;
  for (let index = 0; index < COLORS; index += 1) {
    if (classes === null || index >= classes) style.removeProperty(`--hue-${index + 1}`);
    else style.setProperty(`--hue-${index + 1}`, `var(--ramp-${rampOf(index, classes)})`);
  }
  if (classes === null) delete dataset.ramp;
  else dataset.ramp = String(classes);
}
