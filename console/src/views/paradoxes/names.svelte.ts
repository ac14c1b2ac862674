/** What events are called: paradoxes name them by their ids. */
import { Problem, service } from '../../lib/api';
import { sentenceText } from '../../lib/when';

/** Each name is a question to the service, and an entry of its ledger: they are kept, and few are asked for. */
const ASKED_MAX = 6;
const kept = new Map<string, string>();
const KEPT_MAX = 2_000;
/** What is asked for at the moment, by whichever part of the page. */
const asking = new Map<string, Promise<void>>();

export class EventNames {
  /** By id; without those that have no name, or were not asked for. */
  byId = $state.raw<ReadonlyMap<string, string>>(new Map());
  #round = 0;

  constructor(
    private readonly timeline: string,
    private readonly most = ASKED_MAX,
  ) {}

  /** Asks for the names of the first of some events. */
  async want(ids: readonly string[]): Promise<void> {
    const round = ++this.#round;
    const wanted = [...new Set(ids)];
    this.#show(wanted);
    await Promise.all(wanted.slice(0, this.most).map((id) => this.#ask(id)));
    if (round === this.#round) this.#show(wanted);
  }

  #show(ids: readonly string[]): void {
    const found = ids.flatMap((id) => {
      const name = kept.get(`${this.timeline} ${id}`);
      return name ? [[id, name] as const] : [];
    });
    this.byId = new Map(found);
  }

  #ask(id: string): Promise<void> {
    const key = `${this.timeline} ${id}`;
    if (kept.has(key)) return Promise.resolve();
    const begun = asking.get(key) ?? this.#read(id, key).finally(() => asking.delete(key));
    asking.set(key, begun);
    return begun;
  }

  async #read(id: string, key: string): Promise<void> {
    try {
      const read = await service.event({ timeline_id: this.timeline, event_id: id });
      const event = read.event ?? [...read.versions].reverse().find((version) => version.event)?.event;
      if (kept.size >= KEPT_MAX) kept.clear();
      kept.set(key, event?.name ?? '');
    } catch (error) {
      // Its id is shown, as it is for those that were never recorded.
      if (error instanceof Problem && error.httpStatus === 404) kept.set(key, '');
    }
  }

  /** Shows nothing that is answered from now on. */
  close(): void {
    this.#round += 1;
  }
}

/**
 * Returns a sentence about events as people say it: with names in the place of ids, which the service writes between
 * backticks, and with dates in the place of timestamps.
 */
export function named(text: string, names: ReadonlyMap<string, string>): string {
  const parts = text.split('`');
  const told = parts.map((part, index) => {
    if (index % 2 === 0) return sentenceText(part);
    if (part.startsWith('intervention_')) return 'the intervention';
    // What follows is when it was set, which says more than an id that the service made.
    if (part.startsWith('anchor_') && parts[index - 1]?.endsWith('the anchor ')) return '';
    const name = names.get(part);
    return name === undefined ? `\`${part}\`` : `“${name.replaceAll('`', "'")}”`;
  });
  const sentence = told.join('').replace('the anchor  (', 'the anchor (');
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}
