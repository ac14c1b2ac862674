/** Examples in a sentence, which a line must not end in: half a timestamp is another one. */

/** Longer than that they would be wider than a field on a phone. */
const LENGTH_MAX = 32;

/** Returns the parts of a sentence; an example, such as `2028-02-29T09:00[Asia/Tokyo]`, is one that is whole. */
export function wholeWords(text: string): { text: string; isWhole: boolean }[] {
  return text
    .split(/(\s+)/)
    .filter((part) => part !== '')
    .map((part) => ({
      text: part,
      // Where it may end within: at a sign, beside a digit somewhere.
      isWhole: part.length <= LENGTH_MAX && /\d/.test(part) && /[-/:[+|]/.test(part),
    }))
    .reduce<{ text: string; isWhole: boolean }[]>((found, part) => {
      const last = found.at(-1);
      if (last !== undefined && !last.isWhole && !part.isWhole) last.text += part.text;
      else found.push(part);
      return found;
    }, []);
}
