/** What events are called: paradoxes name them by their ids. */
import { service } from '../../lib/api';
/** Each name is a question to the service, and an entry of its ledger: they are kept, and few are asked for. */
const ASKED_MAX = 6;
const kept = new Map<string, string>();
const KEPT_MAX = 2_000;

export class EventNames {
  /** By id; without those that have no name, or were not asked for. */
  byId = $state.raw<ReadonlyMap<string, string>>(new Map());
  #asking = new AbortController();

  constructor(private readonly timeline: string) {}

  /** Asks for the names of the first of some events. */
  async want(ids: readonly string[]): Promise<void> {
    this.#asking.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
    await Promise.all(ids.slice(0, ASKED_MAX).map((id) => this.#ask(id, signal)));
    if (signal.aborted) return;
    const found = ids.flatMap((id) => {
      const name = kept.get(`${this.timeline} ${id}`);
      return name ? [[id, name] as const] : [];
    });
    this.byId = new Map(found);
  }

  async #ask(id: string, signal: AbortSignal): Promise<void> {
    const key = `${this.timeline} ${id}`;
    if (kept.has(key)) return;
    try {
      const read = await service.event({ timeline_id: this.timeline, event_id: id }, { signal });
      const event = read.event ?? [...read.versions].reverse().find((version) => version.event)?.event;
      if (kept.size >= KEPT_MAX) kept.clear();
      kept.set(key, event?.name ?? '');
    } catch {
      // Its id is shown, as it is for those that were never recorded.
      if (!signal.aborted) kept.set(key, '');
    }
  }

  close(): void {
    this.#asking.abort();
  }
}

/** Puts names in the place of ids: the service writes these between backticks. */
export function named(text: string, names: ReadonlyMap<string, string>): string {
  return text.replaceAll(/`([^`]+)`/g, (whole, id: string) => {
    const name = names.get(id);
    return name === undefined ? whole : `“${name}”`;
  });
}
