/** The comparison filter, whose events are counted in addition to those of the main filter. */
import { ALL, filterParams, isFiltered, parseFilter, type Filter } from './filter';

/** Parameter value of a comparison filter without conditions. */
const EVERYTHING = 'all';

/** Reads the comparison filter, or null if the URL has none. */
export function parseSecond(text: string | null): Filter | null {
  if (text === null) return null;
  return text === EVERYTHING ? ALL : parseFilter(Object.fromEntries(new URLSearchParams(text)));
}

export function secondParam(filter: Filter): string {
  if (!isFiltered(filter)) return EVERYTHING;
  const params = Object.entries(filterParams(ALL, filter)).filter(([, value]) => value !== null);
  return new URLSearchParams(params as [string, string][]).toString();
}
