/** Parts of a hint or message: code in backticks, and examples that do not wrap, as a part could be read as a whole. */

/** Longer examples would not fit into a field on a phone. */
const LENGTH_MAX = 32;

/** Splits a text into parts. An example has a digit and a character at which browsers may break lines. */
export function proseParts(text: string): { text: string; kind: 'text' | 'code' | 'whole' }[] {
  return text.split(/(`[^`]*`|[^\s`]*\d[^\s`]*)/).map((part, index) => {
    if (index % 2 === 0) return { text: part, kind: 'text' };
    if (part.startsWith('`')) return { text: part.slice(1, -1), kind: 'code' };
    return { text: part, kind: part.length <= LENGTH_MAX && /[-/:[+|]/.test(part) ? 'whole' : 'text' };
  });
}
