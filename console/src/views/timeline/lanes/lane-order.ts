/** In which order lanes lie: that of their colors, but for those that somebody moved. */
import type { Legend } from '../groups/groups';

/** Returns in which place from the top each of some lanes lies: first those that an order names, then the others. */
export function placesOf(keys: readonly string[], order: readonly string[]): number[] {
  const named = [...new Set(order)].filter((key) => keys.includes(key));
  const sorted = [...named, ...keys.filter((key) => !named.includes(key))];
  return keys.map((key) => sorted.indexOf(key));
}

/** Returns the same for a number of lanes of a legend, of which the last may be that of what is in no group. */
export function lanePlaces({ groups, classes }: Legend, order: readonly string[], count: number): number[] {
  // Classes of numbers have an order of their own.
  const keys = groups.map(({ key }) => key);
  const places = classes === null ? placesOf(keys, order) : keys.map((_, index) => index);
  return Array.from({ length: count }, (_, lane) => places[lane] ?? lane);
}

/** Returns which lane lies in each place from the top. */
export function fromTop(places: readonly number[]): number[] {
  return places.map((_, place) => places.indexOf(place));
}

/** Moves what is in a place to before that which is in another one; to the end where there is none. */
export function movedBefore(keys: readonly string[], from: number, before: number): string[] {
  const rest = keys.filter((_, index) => index !== from);
  const to = before > from ? before - 1 : before;
  return [...rest.slice(0, to), keys[from]!, ...rest.slice(to)];
}
