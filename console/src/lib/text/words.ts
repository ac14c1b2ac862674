/** Sentences of the service, in which ids and such stand between backticks. */

/** Ids that the service made say what they are; of the rest the end is enough to tell them apart. */
const MADE = /`((?:intervention|anchor|event)_|sha256-)[0-9a-z]{20,}([0-9a-z]{4})`/g;

/** A value as the service quotes it, outside of what stands between backticks. */
const QUOTED = /(`[^`]*`)|"((?:[^"\\`]|\\.)*)"/g;

/** Returns a sentence with its long ids in short, and its quotes as this console writes them. */
export function brief(sentence: string): string {
  return sentence
    .replace(MADE, '`$1…$2`')
    .replace(QUOTED, (_, code: string | undefined, value: string) => code ?? `“${value}”`);
}

/** Returns a sentence in short, without its backticks. */
export function plain(sentence: string): string {
  return brief(sentence).replaceAll('`', '');
}
