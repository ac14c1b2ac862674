/**
 * Server-sent events in the body of an answer (WHATWG HTML, "server-sent events"). The browser's EventSource sends GET
 * alone, shows no status and no headers, and cannot go on from where another connection ended.
 *
 * Read by hand: `eventsource-parser` leaves out messages that carry an id and no data, and those are how the service
 * says how far a silent stream has come.
 */
export interface SentEvent {
  event: string;
  /** Empty where the event names none. */
  id: string;
  data: string;
}

/**
 * Takes text as it comes, in pieces of any size, and returns the events that are complete. Comments, which keep the
 * connection alive, are left out.
 */
export class EventReader {
  #rest = '';
  /** The newest id that was told, with an event or alone. */
  lastId = '';

  push(text: string): SentEvent[] {
    // A line end may be cut between two pieces; the carriage return is kept until what follows it is known.
    this.#rest += text;
    const events: SentEvent[] = [];
    const lines = this.#rest.replace(/\r\n/g, '\n');
    const end = lines.lastIndexOf('\n\n');
    if (end < 0) return events;
    this.#rest = lines.slice(end + 2);
    for (const block of lines.slice(0, end).split('\n\n')) {
      const told: SentEvent = { event: 'message', id: '', data: '' };
      const data: string[] = [];
      for (const line of block.split('\n')) {
        const [, name = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
        if (name === 'event') told.event = value;
        if (name === 'id') told.id = value;
        if (name === 'data') data.push(value);
      }
      if (told.id !== '') this.lastId = told.id;
      told.data = data.join('\n');
      if (data.length > 0) events.push(told);
    }
    return events;
  }
}

/** Reads the events of an answer one after the other, until it ends. */
export async function* readEvents(answer: Response, events = new EventReader()): AsyncGenerator<SentEvent> {
  const reader = answer.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield* events.push(decoder.decode(value, { stream: true }));
  }
}
