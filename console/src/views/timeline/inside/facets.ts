/** Compares selected events with others by attribute: how frequent each value is on both sides. */
import type { GroupBy } from '../../../lib/events/filter';
import type { EventBody } from '../../../lib/events/store';
import { leaves } from '../attributes/attributes';
import { texts } from '../groups/groups';
import { numberOf } from '../attributes/numbers';

/** A value and its share of the events, from 0 to 1. */
interface Share {
  value: string;
  /** Number of selected events with the value. */
  count: number;
  selected: number;
  others: number;
}

export interface Numbers {
  low: number;
  median: number;
  mean: number;
  high: number;
  sum: number;
}

export interface Facet {
  /** Attribute for a filter on a value; `place` for the location. */
  by: GroupBy;
  name: string;
  /** Number of selected events with the attribute. */
  count: number;
  /** The values with the largest difference, then the most frequent. */
  shares: readonly Share[];
  /** Number of values that are not listed. */
  more: number;
  /** Statistics, if the values are numbers. */
  selected: Numbers | null;
  others: Numbers | null;
  /** Difference of both sides: 0 if they are equal, 1 if they have nothing in common. */
  difference: number;
}

/** Maximum number of listed values per attribute. */
const SHARES_MAX = 5;

/** Numbers with at most this many distinct values, such as status codes, are listed, too. */
const LISTED_NUMBERS_MAX = 12;

/** Number of events with an attribute, and with each of its values. */
export interface Tally {
  count: number;
  values: ReadonlyMap<string, number>;
}

/** Value counts of one side for an attribute. */
export interface SideTally {
  tally: Tally;
  /** Number of events, including those without a value. */
  events: number;
}

/** Compares loaded events by attribute; the largest difference first. */
export function facetsOf(selected: readonly EventBody[], others: readonly EventBody[]): Facet[] {
  const [own, rest] = [tally(selected), tally(others)];
  const found = [...new Set([...own.keys(), ...rest.keys()])].map((by) =>
    facetOf(
      by,
      { tally: own.get(by) ?? NONE, events: selected.length },
      { tally: rest.get(by) ?? NONE, events: others.length },
    ),
  );
  return inOrder(found);
}

/** Sorts by difference, the largest first. */
export function inOrder(facets: readonly Facet[]): Facet[] {
  return [...facets].sort((a, b) => b.difference - a.difference || b.count - a.count || (a.name < b.name ? -1 : 1));
}

export const NONE: Tally = { count: 0, values: new Map() };
const PLACE = 'place';

/** Counts the values of events by attribute. */
export function tally(events: readonly EventBody[]): ReadonlyMap<string, Tally> {
  const found = new Map<string, { count: number; values: Map<string, number> }>();
  for (const event of events)
    for (const [by, values] of facts(event)) {
      if (values.length === 0) continue;
      const own = found.get(by) ?? { count: 0, values: new Map<string, number>() };
      own.count += 1;
      for (const value of new Set(values)) own.values.set(value, (own.values.get(value) ?? 0) + 1);
      found.set(by, own);
    }
  return found;
}

function facts({ source, actors, location, attributes }: EventBody): [by: string, values: string[]][] {
  return [
    ['source', source ? [source] : []],
    ['actor', actors ?? []],
    [PLACE, location ? [location] : []],
    ...leaves(attributes ?? {}).map(([path, value]): [string, string[]] => [`attribute.${path}`, texts(value)]),
  ];
}

const nameOf = (by: string): string => by.replace(/^attribute[.]/, '');

/**
 * Compares two sets of events by one attribute. The difference is the largest difference between the shares of a value,
 * which is the Chebyshev distance of the distributions (Deza and Deza, Encyclopedia of Distances, "Distances in
 * Probability Theory"). For numbers, it is at least the Kolmogorov–Smirnov statistic (Massey, JASA 46, 1951). Both
 * range from 0 to 1, and the first can be read off the bars.
 */
export function facetOf(by: string, selected: SideTally, others: SideTally): Facet {
  const [own, rest, ownEvents, restEvents] = [selected.tally, others.tally, selected.events, others.events];
  const shares = [...new Set([...own.values.keys(), ...rest.values.keys()])].map((value): Share => {
    const count = own.values.get(value) ?? 0;
    return {
      value,
      count,
      selected: ownEvents === 0 ? 0 : count / ownEvents,
      others: restEvents === 0 ? 0 : (rest.values.get(value) ?? 0) / restEvents,
    };
  });
  // Without other events, sort by frequency and report no difference.
  const apart = (share: Share): number => (restEvents === 0 ? 0 : Math.abs(share.selected - share.others));
  shares.sort((a, b) => apart(b) - apart(a) || b.count - a.count || (a.value < b.value ? -1 : 1));
  const [numbers, restNumbers] = [numbersIn(own), numbersIn(rest)];
  const isNumeric = numbers !== null && (rest.count === 0 || restNumbers !== null);
  const isListed = !isNumeric || shares.length <= LISTED_NUMBERS_MAX;
  const spread = isNumeric && restNumbers !== null ? distance(numbers, restNumbers) : 0;
  const listed = isListed ? shares.slice(0, SHARES_MAX) : [];
  return {
    by,
    name: nameOf(by),
    count: own.count,
    shares: listed,
    more: isListed ? shares.length - listed.length : 0,
    selected: isNumeric ? summarize(numbers) : null,
    others: isNumeric && restNumbers !== null ? summarize(restNumbers) : null,
    difference: Math.max(spread, ...shares.map(apart), 0),
  };
}

/** Distinct numbers and the number of events with each, in ascending order. */
type NumberCounts = readonly (readonly [value: number, count: number])[];

/** Returns the values as numbers; null if there are none or one is not a number. */
function numbersIn({ values }: Tally): NumberCounts | null {
  const found = [...values].map(([value, count]) => [numberOf(value), count] as const);
  const isAll = found.length > 0 && found.every((pair): pair is readonly [number, number] => pair[0] !== null);
  return isAll ? found.sort((a, b) => a[0] - b[0]) : null;
}

const countIn = (numbers: NumberCounts): number => numbers.reduce((all, [, count]) => all + count, 0);

function summarize(numbers: NumberCounts): Numbers {
  const count = countIn(numbers);
  const sum = numbers.reduce((all, [value, times]) => all + value * times, 0);
  return {
    low: numbers[0]![0],
    median: (at(numbers, Math.floor((count - 1) / 2)) + at(numbers, Math.floor(count / 2))) / 2,
    mean: sum / count,
    high: numbers.at(-1)![0],
    sum,
  };
}

/** Returns the number at a position of the sorted events, counted from 0. */
function at(numbers: NumberCounts, place: number): number {
  let before = 0;
  for (const [value, count] of numbers) {
    before += count;
    if (place < before) return value;
  }
  return numbers.at(-1)![0];
}

/** Returns the Kolmogorov–Smirnov distance: the maximum difference between both cumulative distributions. */
function distance(a: NumberCounts, b: NumberCounts): number {
  const [ones, others] = [countIn(a), countIn(b)];
  let [i, j, below, otherBelow, most] = [0, 0, 0, 0, 0];
  while (i < a.length && j < b.length) {
    const value = Math.min(a[i]![0], b[j]![0]);
    if (a[i]![0] === value) below += a[i++]![1];
    if (b[j]![0] === value) otherBelow += b[j++]![1];
    most = Math.max(most, Math.abs(below / ones - otherBelow / others));
  }
  return most;
}

/** Formats a share as a percentage. */
export function shareText(share: number): string {
  if (share > 0 && share < 0.01) return '<1%';
  if (share < 1 && share > 0.99) return '>99%';
  return `${Math.round(share * 100)}%`;
}
