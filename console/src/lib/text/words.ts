/** Sentences from the service, with IDs and code in backticks. */

/** Generated IDs. The prefix names the kind, and the last characters suffice to distinguish them. */
const GENERATED_ID = /`((?:intervention|anchor|event)_|sha256-)[0-9a-z]{20,}([0-9a-z]{4})`/g;

/** A value in double quotes outside backticks. */
const QUOTED = /(`[^`]*`)|"((?:[^"\\`]|\\.)*)"/g;

/** Shortens IDs in a sentence and uses typographic quotes. */
export function brief(sentence: string): string {
  return sentence
    .replace(GENERATED_ID, '`$1…$2`')
    .replace(QUOTED, (_, code: string | undefined, value: string) => code ?? `“${value}”`);
}

/** Like `brief`, without backticks. */
export function plain(sentence: string): string {
  return brief(sentence).replaceAll('`', '');
}
