/** Units of numeric attributes. Events do not record units: they are stored in the address. */
import { keysOf, keysParam } from '../lanes/lane-keys';

export const UNIT_LENGTH_MAX = 16;

/** Parses a parameter such as `max_wind_kt=kt,delay=min` to units by attribute. */
export function unitsOf(param: string | null): Map<string, string> {
  return new Map(
    keysOf(param).flatMap((pair): [string, string][] => {
      const separator = pair.lastIndexOf('=');
      const unit = pair.slice(separator + 1).trim();
      return separator < 1 || unit === '' ? [] : [[pair.slice(0, separator), unit.slice(0, UNIT_LENGTH_MAX)]];
    }),
  );
}

/** Formats units as a parameter; null if there are none. */
export function unitsParam(units: ReadonlyMap<string, string>): string | null {
  // The last equals sign separates the name from the unit.
  const pairs = [...units].map(([name, unit]) => [name, unit.replaceAll('=', '').trim()] as const);
  return keysParam(pairs.filter(([, unit]) => unit !== '').map(([name, unit]) => `${name}=${unit}`));
}
