/** Sentences of the service, in which ids and such stand between backticks. */

/** Ids that the service made say what they are; of the rest the end is enough to tell them apart. */
const MADE = /^(intervention|anchor|event)_[0-9a-z]{20,}([0-9a-z]{4})$/;

/** Returns a sentence in pieces: what stands between backticks is code. */
export function pieces(sentence: string): { text: string; isCode: boolean }[] {
  return sentence
    .split('`')
    .map((text, index) => (index % 2 === 1 ? { text: text.replace(MADE, '$1_…$2'), isCode: true } : { text, isCode: false }))
    .filter((piece) => piece.text !== '');
}

/** Returns a sentence without its backticks. */
export function plain(sentence: string): string {
  return pieces(sentence).map((piece) => piece.text).join('');
}
