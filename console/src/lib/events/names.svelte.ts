/** What events are called where only their ids are known: in paradoxes, entries of a ledger, causes out of sight. */
import { ApiError, service } from '../service/api';
import { parse } from '../time/instant';
import { isDate, preciseText, sentenceText } from '../time/when';
import { isOfEvent, nameIn, runsOf, type OfEntry } from './entry-names';
import { callName, keepName, knownName, knownPrecision } from './known-names';
import { keepSpan, knownSpan, type Span } from './known-spans';

/** Each name that is asked for by itself is a question to the service, and an entry of its ledger: few are. */
const REQUESTS_MAX = 6;
/** Names of entries are asked for in stretches of the ledger, so many at a time. */
const RUNS_MAX = 2;
/** What is asked for at the moment, by whichever part of the page. */
const asking = new Map<string, Promise<void>>();
/** Entries that were read, whether they had a name or not. */
const read = new Set<string>();
const READ_MAX = 20_000;

export class EventNames {
  /** By id; without those that have no name, or were not asked for. */
  byId = $state.raw<ReadonlyMap<string, string>>(new Map());
  /** When they are, of those that were read. */
  spans = $state.raw<ReadonlyMap<string, Span>>(new Map());
  /** How exactly it is known when they are, of those whose time is a date. */
  precisions = $state.raw<ReadonlyMap<string, string>>(new Map());
  #round = 0;

  constructor(
    private readonly timeline: string,
    private readonly most = REQUESTS_MAX,
    /** Whether it matters when they are too: a name alone does not do then. */
    private readonly withSpans = false,
  ) {}

  /**
   * Asks for the names of the first of some events. Of those that may never have been recorded it is asked in a way
   * that does not fail. Those that are known are shown of others too.
   */
  async want(ids: readonly string[], mayBeMissing = false, others: readonly string[] = []): Promise<void> {
    const round = ++this.#round;
    const needed = [...new Set(ids)];
    const visible = [...new Set([...needed, ...others])];
    this.#show(visible);
    await this.#askAll(needed, mayBeMissing);
    if (round === this.#round) this.#show(visible);
  }

  /** Asks for the names of the events that entries are about: for all of them at once, where their payloads tell. */
  async wantOf(entries: readonly OfEntry[]): Promise<void> {
    const round = ++this.#round;
    const ofEvents = entries.filter(isOfEvent);
    const ids = [...new Set(ofEvents.map(({ subject }) => subject))];
    this.#show(ids);
    const missing = ofEvents.filter(({ position, subject }) => !this.#isKnown(subject) && !this.#wasRead(position));
    const runs = runsOf(missing.map(({ position }) => position)).slice(-RUNS_MAX);
    await Promise.all(runs.map((run) => this.#once(`entries ${run.from} ${run.limit}`, () => this.#readRun(run))));
    if (round !== this.#round) return;
    this.#show(ids);
    // What was cancelled or moved before it was read here is named nowhere else.
    await this.#askAll(
      [...new Set(ofEvents.filter(({ position }) => this.#wasRead(position)).map(({ subject }) => subject))],
      true,
    );
    if (round === this.#round) this.#show(ids);
  }

  #isKnown(id: string): boolean {
    if (this.withSpans && knownSpan(this.timeline, id) === undefined && knownName(this.timeline, id) !== '')
      return false;
    return knownName(this.timeline, id) !== undefined;
  }

  #wasRead(position: number): boolean {
    return read.has(`${this.timeline} ${position}`);
  }

  #show(ids: readonly string[]): void {
    const found = ids.flatMap((id) => {
      const name = knownName(this.timeline, id);
      return name ? [[id, name] as const] : [];
    });
    this.byId = new Map(found);
    this.precisions = new Map(
      ids.map((id) => [id, knownPrecision(this.timeline, id)] as const).filter(([, precision]) => isDate(precision)),
    );
    this.spans = new Map(
      ids.flatMap((id) => {
        const span = knownSpan(this.timeline, id);
        return span ? [[id, span] as const] : [];
      }),
    );
  }

  async #askAll(ids: readonly string[], mayBeMissing: boolean): Promise<void> {
    const unknown = ids.slice(0, mayBeMissing ? undefined : this.most).filter((id) => !this.#isKnown(id));
    await Promise.all(
      unknown
        .slice(0, this.most)
        .map((id) => this.#once(`event ${id}`, () => (mayBeMissing ? this.#check(id) : this.#read(id)))),
    );
  }

  /** Does something once, whoever wants it meanwhile. */
  #once(what: string, work: () => Promise<void>): Promise<void> {
    const key = `${this.timeline} ${what}`;
    const begun = asking.get(key) ?? work().finally(() => asking.delete(key));
    asking.set(key, begun);
    return begun;
  }

  async #read(id: string): Promise<void> {
    try {
      const response = await service.event({ timeline_id: this.timeline, event_id: id });
      const event = response.event ?? [...response.versions].reverse().find((version) => version.event)?.event;
      keepName(this.timeline, id, event ? callName(event) : '', event?.precision);
      if (event) keepSpan(this.timeline, id, event);
    } catch (error) {
      // Its id is shown, as it is for those that were never recorded.
      if (error instanceof ApiError && error.httpStatus === 404) keepName(this.timeline, id, '');
    }
  }

  /** The same for an event that may not be there: this is answered, whether it is or not. */
  async #check(id: string): Promise<void> {
    try {
      const response = await service.checkTimeline({ timeline_id: this.timeline, significant_event: id });
      // What was cancelled has its name in what it was.
      if (response.event_id === id && !response.event) await this.#read(id);
      else {
        const event = response.event_id === id ? response.event : null;
        keepName(this.timeline, id, event ? callName(event) : '', event?.precision);
      }
    } catch {
      // Its id is shown.
    }
  }

  async #readRun({ from, limit }: { from: number; limit: number }): Promise<void> {
    try {
      const { entries } = await service.entries({ timeline_id: this.timeline, from, limit });
      if (read.size >= READ_MAX) read.clear();
      for (const { position, payload } of entries) {
        read.add(`${this.timeline} ${position}`);
        const found = nameIn(payload);
        if (found !== null) keepName(this.timeline, found.id, found.name, found.precision);
      }
    } catch {
      // Ids are shown.
    }
  }

  /** Shows nothing that is answered from now on. */
  close(): void {
    this.#round += 1;
  }
}

/**
 * Returns a sentence about events as people say it: with names in the place of ids, which the service writes between
 * backticks, and with dates in the place of timestamps. The time of an event stands behind its id, and is told no more
 * exactly than it is known.
 */
export function named(
  text: string,
  names: ReadonlyMap<string, string>,
  precisions: ReadonlyMap<string, string> = new Map(),
): string {
  const parts = text.split('`');
  const texts = parts.map((part, index) => {
    if (index % 2 === 0) return sentenceText(asKnown(part, precisions.get(parts[index - 1] ?? '')));
    if (part.startsWith('intervention_')) return 'the intervention';
    // What follows is when it was set, which says more than an id that the service made.
    if (part.startsWith('anchor_') && parts[index - 1]?.endsWith('the anchor ')) return '';
    const name = names.get(part);
    return name === undefined ? `\`${part}\`` : `“${name.replaceAll('`', "'")}”`;
  });
  const sentence = texts.join('').replace('the anchor  (', 'the anchor (');
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

/** Returns what follows an event's id with its time as exactly as that is known. */
function asKnown(text: string, precision: string | undefined): string {
  if (precision === undefined) return text;
  return text.replace(/^ \(([^()]*Z)\)/, (whole, timestamp: string) => {
    const time = parse(timestamp);
    return time === null ? whole : ` (${preciseText(time, precision)})`;
  });
}
