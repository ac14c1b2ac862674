/**
 * Server-sent events (WHATWG HTML), read from bytes as they come.
 *
 * Read by hand: what is a comment to other readers is the sign of life that a clock goes by, and a message without data
 * carries the id of a silent stream.
 */
export interface RawEvent {
  event: string;
  id: string;
  data: string;
}

export class EventReader {
  /** The newest id that was told, with an event or alone. */
  lastId = '';
  readonly #decoder = new TextDecoder();
  #rest = '';
  #event = '';
  #id: string | null = null;
  #data: string[] = [];

  /** Takes bytes in pieces of any size, and returns the events that a piece completes. */
  push(piece: Uint8Array): RawEvent[] {
    this.#rest += this.#decoder.decode(piece, { stream: true });
    // A line end may be cut between two pieces: a last carriage return waits for what follows it.
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
