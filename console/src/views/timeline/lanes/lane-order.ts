/** Order of the lanes: the order of their colors, except for lanes that the user moved. */
import type { Legend } from '../groups/groups';

/** Returns the position of each lane from the top: first the lanes in `order`, then the others. */
export function placesOf(keys: readonly string[], order: readonly string[]): number[] {
  const named = [...new Set(order)].filter((key) => keys.includes(key));
  const sorted = [...named, ...keys.filter((key) => !named.includes(key))];
  return keys.map((key) => sorted.indexOf(key));
}

/** Returns the position of each lane of a legend. The last lane may be the one of ungrouped events. */
export function lanePlaces({ groups, classes }: Legend, order: readonly string[], count: number): number[] {
  // Classes of numbers cannot be reordered.
  const keys = groups.map(({ key }) => key);
  const places = classes === null ? placesOf(keys, order) : keys.map((_, index) => index);
  return Array.from({ length: count }, (_, lane) => places[lane] ?? lane);
}

/** Returns the lane at each position from the top. */
export function fromTop(places: readonly number[]): number[] {
  return places.map((_, place) => places.indexOf(place));
}

/** Moves the item at `from` before the item at `before`, or to the end if that is the number of items. */
export function movedBefore(keys: readonly string[], from: number, before: number): string[] {
  const rest = keys.filter((_, index) => index !== from);
  const to = before > from ? before - 1 : before;
  return [...rest.slice(0, to), keys[from]!, ...rest.slice(to)];
}
