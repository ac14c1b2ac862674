/**
 * What some events have in common, and what sets them apart from others: for each thing that events are told apart by,
 * how frequent its values are in both.
 */
import type { GroupBy } from '../../../lib/events/filter';
import type { EventBody } from '../../../lib/events/store';
import { leaves } from '../attributes/attributes';
import { texts } from '../groups/groups';
import { numberOf } from '../attributes/numbers';

/** A value, and how large a part of the events has it: from 0 to 1. */
export interface Share {
  value: string;
  /** How many of the selected events have it. */
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
  /** By what a value is made a filter; `place` for where they happened. */
  by: GroupBy;
  name: string;
  /** How many of the selected events have it. */
  count: number;
  /** The values that differ the most, and of equals the most frequent ones. */
  shares: readonly Share[];
  /** How many values there are beside these. */
  more: number;
  /** What the numbers come to, where the values are numbers. */
  selected: Numbers | null;
  others: Numbers | null;
  /** How far both are from each other: 0 where they have the same, 1 where they have nothing in common. */
  difference: number;
}

/** So many values of each are listed. */
const SHARES_MAX = 5;

/** Numbers of so few different values, such as the codes of an answer, are listed as well. */
const LISTED_NUMBERS_MAX = 12;

/** How many events have something, and how many each of its values. */
export interface Tally {
  count: number;
  values: ReadonlyMap<string, number>;
}

/** What is known of some events by one of the things that they are told apart by. */
export interface Tallied {
  tally: Tally;
  /** How many events there are, also those that have no value. */
  events: number;
}

/** Returns what there is to say of some events beside others; first what sets them apart the most. */
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

/** Puts first what sets the selected events apart the most. */
export function inOrder(facets: readonly Facet[]): Facet[] {
  return [...facets].sort((a, b) => b.difference - a.difference || b.count - a.count || (a.name < b.name ? -1 : 1));
}

export const NONE: Tally = { count: 0, values: new Map() };
const PLACE = 'place';

/** Counts the values that events have, of each thing that they are told apart by. */
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
 * Returns how two sets of events differ in one thing: by the largest difference between the shares that a value has in
 * both, which is the Chebyshev distance of the two distributions (Deza and Deza, Encyclopedia of Distances, "Distances
 * in Probability Theory"), and for numbers no less than the statistic of Kolmogorov and Smirnov (Massey, JASA 46,
 * 1951). Both are from 0 to 1, and the first can be read off the bars.
 */
export function facetOf(by: string, selected: Tallied, others: Tallied): Facet {
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
  // With nothing to compare with, what is frequent comes first, and nothing stands out.
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
    selected: isNumeric ? summedUp(numbers) : null,
    others: isNumeric && restNumbers !== null ? summedUp(restNumbers) : null,
    difference: Math.max(spread, ...shares.map(apart), 0),
  };
}

/** A number, and how many events have it; in rising order. */
type Counted = readonly (readonly [value: number, count: number])[];

/** Returns the numbers that all values are; null where one of them is none, or there are none. */
function numbersIn({ values }: Tally): Counted | null {
  const found = [...values].map(([value, count]) => [numberOf(value), count] as const);
  const isAll = found.length > 0 && found.every((one): one is readonly [number, number] => one[0] !== null);
  return isAll ? found.sort((a, b) => a[0] - b[0]) : null;
}

const countIn = (numbers: Counted): number => numbers.reduce((all, [, count]) => all + count, 0);

function summedUp(numbers: Counted): Numbers {
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

/** Returns the number in a place, counted from 0, where each stands as often as there are events with it. */
function at(numbers: Counted, place: number): number {
  let before = 0;
  for (const [value, count] of numbers) {
    before += count;
    if (place < before) return value;
  }
  return numbers.at(-1)![0];
}

/**
 * Returns how far two sets of numbers are from each other: by how much the parts of them that are below a value differ
 * at most, for any value (Kolmogorov and Smirnov).
 */
function distance(one: Counted, other: Counted): number {
  const [ones, others] = [countIn(one), countIn(other)];
  let [i, j, below, otherBelow, most] = [0, 0, 0, 0, 0];
  while (i < one.length && j < other.length) {
    const value = Math.min(one[i]![0], other[j]![0]);
    if (one[i]![0] === value) below += one[i++]![1];
    if (other[j]![0] === value) otherBelow += other[j++]![1];
    most = Math.max(most, Math.abs(below / ones - otherBelow / others));
  }
  return most;
}

/** Says a part of something for people. */
export function shareText(share: number): string {
  if (share > 0 && share < 0.01) return '<1%';
  if (share < 1 && share > 0.99) return '>99%';
  return `${Math.round(share * 100)}%`;
}
