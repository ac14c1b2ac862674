/**
 * Parser of server-sent events (WHATWG HTML) from chunks of bytes.
 *
 * Existing parsers drop comments, which are the heartbeats of a stream, and messages without data, which update the id
 * of an idle stream.
 */
export interface RawEvent {
  event: string;
  id: string;
  data: string;
}

export class EventReader {
  /** The newest id received, even without an event. */
  lastId = '';
  readonly #decoder = new TextDecoder();
  #rest = '';
  #event = '';
  #id: string | null = null;
  #data: string[] = [];

  /** Parses a chunk of any size, and returns the events that it completes. */
  push(chunk: Uint8Array): RawEvent[] {
    this.#rest += this.#decoder.decode(chunk, { stream: true });
    // CRLF may be split across chunks, so a trailing carriage return is kept until the next byte arrives.
    const carriageReturn = this.#rest.endsWith('\r') ? '\r' : '';
    const lines = this.#rest.slice(0, this.#rest.length - carriageReturn.length).split(/\r\n|\r|\n/);
    this.#rest = (lines.pop() ?? '') + carriageReturn;
    return lines.flatMap((line) => this.#line(line) ?? []);
  }

  #line(line: string): RawEvent | null {
    if (line === '') return this.#complete();
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'event') this.#event = value;
    if (name === 'data') this.#data.push(value);
    if (name === 'id' && !value.includes('\0')) this.#id = value;
    return null;
  }

  #complete(): RawEvent | null {
    if (this.#id !== null) this.lastId = this.#id;
    const event = { event: this.#event || 'message', id: this.lastId, data: this.#data.join('\n') };
    const isComplete = this.#data.length > 0;
    [this.#event, this.#id, this.#data] = ['', null, []];
    return isComplete ? event : null;
  }
}
