/** Keeps examples in help texts on one line: part of a timestamp could be read as a complete one. */

/** Longer examples would not fit into a field on a phone. */
const LENGTH_MAX = 32;

/** Splits a sentence so that each example, such as `2028-02-29T09:00[Asia/Tokyo]`, is one part. */
export function wholeWords(text: string): { text: string; isWhole: boolean }[] {
  return text
    .split(/(\s+)/)
    .filter((part) => part !== '')
    .map((part) => ({
      text: part,
      // A part that contains a digit and a character at which browsers may break lines.
      isWhole: part.length <= LENGTH_MAX && /\d/.test(part) && /[-/:[+|]/.test(part),
    }))
    .reduce<{ text: string; isWhole: boolean }[]>((found, part) => {
      const last = found.at(-1);
      if (last !== undefined && !last.isWhole && !part.isWhole) last.text += part.text;
      else found.push(part);
      return found;
    }, []);
}
