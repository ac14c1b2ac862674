/** Loads event names where only IDs are known: paradoxes, ledger entries, causes outside the view. */
import { ApiError, service } from '../service/api';
import { parse } from '../time/instant';
import { isDate, preciseText, sentenceText } from '../time/when';
import { isOfEvent, nameIn, runsOf, type EntryEventFields } from './entry-names';
import { displayName, cacheName, knownName, knownPrecision } from './known-names';
import { keepSpan, knownSpan, type Span } from './known-spans';

/** Limit for names that need a request each. Every request adds a ledger entry. */
const REQUESTS_MAX = 6;
/** Limit for ledger ranges that are read for names at a time. */
const RUNS_MAX = 2;
/** Pending requests of the whole page. */
const pending = new Map<string, Promise<void>>();
/** Ledger entries that were read, with or without a name. */
const read = new Set<string>();
const READ_MAX = 20_000;

export class EventNames {
  /** Names by event ID, without unnamed events. */
  byId = $state.raw<ReadonlyMap<string, string>>(new Map());
  /** Time spans by event ID. */
  spans = $state.raw<ReadonlyMap<string, Span>>(new Map());
  /** Time precisions by event ID, for events known only by date. */
  precisions = $state.raw<ReadonlyMap<string, string>>(new Map());
  #round = 0;

  constructor(
    private readonly timeline: string,
    private readonly most = REQUESTS_MAX,
    /** Whether time spans are needed in addition to names. */
    private readonly withSpans = false,
  ) {
    $effect(() => () => (this.#round += 1));
  }

  /**
   * Loads the names of the first events. For `mayBeMissing` events, uses a request that does not fail if the event was
   * never recorded. Names of `others` are shown if they are cached.
   */
  async request(ids: readonly string[], mayBeMissing = false, others: readonly string[] = []): Promise<void> {
    const round = ++this.#round;
    const needed = [...new Set(ids)];
    const visible = [...new Set([...needed, ...others])];
    this.#show(visible);
    await this.#requestAll(needed, mayBeMissing);
    if (round === this.#round) this.#show(visible);
  }

  /** Loads the names of the events that entries refer to, in bulk where payloads contain them. */
  async requestEntries(entries: readonly EntryEventFields[]): Promise<void> {
    const round = ++this.#round;
    const ofEvents = entries.filter(isOfEvent);
    const ids = [...new Set(ofEvents.map(({ subject }) => subject))];
    this.#show(ids);
    const missing = ofEvents.filter(({ position, subject }) => !this.#isKnown(subject) && !this.#wasRead(position));
    const runs = runsOf(missing.map(({ position }) => position)).slice(-RUNS_MAX);
    await Promise.all(runs.map((run) => this.#once(`entries ${run.from} ${run.limit}`, () => this.#readRun(run))));
    if (round !== this.#round) return;
    this.#show(ids);
    // Events canceled or moved before their entry was read here need individual requests.
    await this.#requestAll(
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

  async #requestAll(ids: readonly string[], mayBeMissing: boolean): Promise<void> {
    const unknown = ids.slice(0, mayBeMissing ? undefined : this.most).filter((id) => !this.#isKnown(id));
    await Promise.all(
      unknown
        .slice(0, this.most)
        .map((id) => this.#once(`event ${id}`, () => (mayBeMissing ? this.#check(id) : this.#read(id)))),
    );
  }

  /** Runs `work` once for concurrent callers. */
  #once(what: string, work: () => Promise<void>): Promise<void> {
    const key = `${this.timeline} ${what}`;
    const promise = pending.get(key) ?? work().finally(() => pending.delete(key));
    pending.set(key, promise);
    return promise;
  }

  async #read(id: string): Promise<void> {
    try {
      const response = await service.event({ timeline_id: this.timeline, event_id: id });
      const event = response.event ?? [...response.versions].reverse().find((version) => version.event)?.event;
      cacheName(this.timeline, id, event ? displayName(event) : '', event?.precision);
      if (event) keepSpan(this.timeline, id, event);
    } catch (error) {
      // Show the ID, as for events that were never recorded.
      if (error instanceof ApiError && error.httpStatus === 404) cacheName(this.timeline, id, '');
    }
  }

  /** Loads the name of an event that may not exist. The request succeeds in both cases. */
  async #check(id: string): Promise<void> {
    try {
      const response = await service.checkTimeline({ timeline_id: this.timeline, significant_event: id });
      // The name of a canceled event is in its earlier version.
      if (response.event_id === id && !response.event) await this.#read(id);
      else {
        const event = response.event_id === id ? response.event : null;
        cacheName(this.timeline, id, event ? displayName(event) : '', event?.precision);
      }
    } catch {
      // Show the ID.
    }
  }

  async #readRun({ from, limit }: { from: number; limit: number }): Promise<void> {
    try {
      const { entries } = await service.entries({ timeline_id: this.timeline, from, limit });
      if (read.size >= READ_MAX) read.clear();
      for (const { position, payload } of entries) {
        read.add(`${this.timeline} ${position}`);
        const found = nameIn(payload);
        if (found !== null) cacheName(this.timeline, found.id, found.name, found.precision);
      }
    } catch {
      // Show the IDs.
    }
  }

  /** Ignores responses that arrive later. */
}

/**
 * Replaces event IDs, which the service writes in backticks, with names, and timestamps with readable dates. A time
 * that follows an event ID is shown with the precision of that event.
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
    // The time of the anchor follows, which is more useful than a generated ID.
    if (part.startsWith('anchor_') && parts[index - 1]?.endsWith('the anchor ')) return '';
    const name = names.get(part);
    return name === undefined ? `\`${part}\`` : `“${name.replaceAll('`', "'")}”`;
  });
  const sentence = texts.join('').replace('the anchor  (', 'the anchor (');
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
}

/** Replaces the time after an event ID with the known precision of that event. */
function asKnown(text: string, precision: string | undefined): string {
  if (precision === undefined) return text;
  return text.replace(/^ \(([^()]*Z)\)/, (whole, timestamp: string) => {
    const time = parse(timestamp);
    return time === null ? whole : ` (${preciseText(time, precision)})`;
  });
}
