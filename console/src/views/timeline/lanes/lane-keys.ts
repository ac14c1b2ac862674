/** Names of groups in an address, such as `UA,B6`: which lanes are open, and which groups have one. */

/** Returns the names that a parameter lists. */
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
      // An empty name has to leave a trace.
      if (param[at] !== '-') key += param[at] ?? '';
    } else key += letter;
  }
  return [...new Set([...keys, key])];
}

/** Writes them; null where there are none. */
export function keysParam(keys: readonly string[]): string | null {
  if (keys.length === 0) return null;
  return keys.map((key) => (key === '' ? '\\-' : key.replaceAll(/[\\,]/g, (sign) => `\\${sign}`))).join(',');
}

/** Returns the names that parameters list together: first those of the first. */
export function keysOfAll(...params: (string | null)[]): string[] {
  return [...new Set(params.flatMap(keysOf))];
}
