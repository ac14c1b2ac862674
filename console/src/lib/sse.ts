/**
 * Server-sent events in the body of an answer, where the browser's EventSource cannot ask: it sends GET alone, and
 * shows no headers.
 */
export interface SentEvent {
  event: string;
  /** Empty where the event names none. */
  id: string;
  data: string;
}

/**
 * Takes text as it comes, in pieces of any size, and returns the events that are complete. Comments, which keep the
 * connection alive, are none.
 */
export class EventReader {
  #rest = '';

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
      told.data = data.join('\n');
      if (data.length > 0) events.push(told);
    }
    return events;
  }
}

/** Reads the events of an answer one after the other, until it ends. */
export async function* readEvents(answer: Response): AsyncGenerator<SentEvent> {
  const reader = answer.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  const events = new EventReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield* events.push(decoder.decode(value, { stream: true }));
  }
}
