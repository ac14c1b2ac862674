/** A second filter, whose events are counted beside those of the first: as the address has it. */
import { ALL, filterParams, isFiltered, parseFilter, type Filter } from './filter';

/** What stands in the address where the second filter lets everything through. */
const EVERYTHING = 'all';

/** Reads a second filter; null where the address has none. */
export function parseSecond(text: string | null): Filter | null {
  if (text === null) return null;
  return text === EVERYTHING ? ALL : parseFilter(Object.fromEntries(new URLSearchParams(text)));
}

export function secondParam(filter: Filter): string {
  if (!isFiltered(filter)) return EVERYTHING;
  const params = Object.entries(filterParams(ALL, filter)).filter(([, value]) => value !== null);
  return new URLSearchParams(params as [string, string][]).toString();
}
