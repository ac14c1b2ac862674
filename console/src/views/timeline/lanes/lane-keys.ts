/** Group names in the address, such as `UA,B6`: open lanes, or groups with a lane. */

/** Parses a parameter with a list of names. */
export function keysOf(param: string | null): string[] {
  if (param === null || param === '') return [];
  const keys: string[] = [];
  let key = '';
  for (let at = 0; at < param.length; at += 1) {
    const letter = param[at]!;
    if (letter === ',') {
      keys.push(key);
      key = '';
    } else if (letter === '\\') {
      at += 1;
      // `\-` encodes an empty name.
      if (param[at] !== '-') key += param[at] ?? '';
    } else key += letter;
  }
  return [...new Set([...keys, key])];
}

/** Formats names as a parameter; null if there are none. */
export function keysParam(keys: readonly string[]): string | null {
  if (keys.length === 0) return null;
  return keys.map((key) => (key === '' ? '\\-' : key.replaceAll(/[\\,]/g, (sign) => `\\${sign}`))).join(',');
}

/** Returns the distinct names of several parameters in order. */
export function keysOfAll(...params: (string | null)[]): string[] {
  return [...new Set(params.flatMap(keysOf))];
}
