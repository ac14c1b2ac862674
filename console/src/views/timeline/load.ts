/** Reads the events of a timeline as they arrive, line after line. */
import { problem, send } from '../../lib/api';
import { EventStore, type EventBody } from './store';

/** More events than these are shown as density until the range on the screen has fewer. */
export const EVENTS_MAX = 200_000;

interface Loaded {
  store: EventStore;
  /** Whether there were more than the limit, so the rest was not read. */
  isCut: boolean;
}

interface LoadOptions {
  timeline: string;
  /** `<start>/<end>`; all of time where it is left out. */
  range?: string;
  signal: AbortSignal;
  limit?: number;
  /** Is told now and then how many have come, with what is there so far. */
  onProgress: (store: EventStore) => void;
}

/** How often a picture is made of what is there so far. */
const PROGRESS_MS = 250;

export async function loadEvents(options: LoadOptions): Promise<Loaded> {
  const answer = await send('GET', 'v1/export-events', {
    query: { timeline_id: options.timeline, format: 'ndjson', time_range: options.range },
    headers: { Accept: 'application/x-ndjson' },
    signal: options.signal,
  });
  if (!answer.ok) throw problem(answer, await answer.json().catch(() => ({})));
  const store = new EventStore();
  const limit = options.limit ?? EVENTS_MAX;
  let isCut = false;
  let told = performance.now();
  for await (const line of lines(answer)) {
    if (store.count >= limit) {
      isCut = true;
      break;
    }
    store.push(JSON.parse(line) as EventBody);
    if (store.count % 512 === 0 && performance.now() - told > PROGRESS_MS) {
      options.onProgress(store);
      // The page gets a turn: pictures are drawn and keys are heard while much arrives.
      await new Promise((resolve) => setTimeout(resolve));
      told = performance.now();
    }
  }
  return { store, isCut };
}

async function* lines(answer: Response): AsyncGenerator<string> {
  if (answer.body === null) return;
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      const parts = (rest + value).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) if (part !== '') yield part;
    }
    if (rest !== '') yield rest;
  } finally {
    await reader.cancel().catch(() => {});
  }
}
