/** Live changes of the timeline: flashes, and changes outside the view. */
import { parse, type Micros } from '../../lib/time/instant';
import { isWithin, type Box } from '../../lib/address/ranges';
import type { EventBody } from '../../lib/events/store';

interface StreamBody {
  event_id?: string | null;
  event?: EventBody | null;
  intervention?: { changed: boolean; after?: EventBody | null } | null;
}

/** Changed events by id; null for removed ones. */
export type Changes = ReadonlyMap<string, EventBody | null>;

interface Flash {
  since: number;
  time: Micros;
}
export type Flashes = ReadonlyMap<string, Flash>;

const BATCH_MS = 200;
const FLASH_MS = 2_000;
const FLASHES_MAX = 200;

export class Live {
  /** Recently added or changed events that flash. */
  flashes = $state.raw<Flashes>(new Map());
  /** Changes outside the view, the latest last. */
  elsewhere = $state.raw<ReadonlyMap<string, Micros>>(new Map());

  #pending = new Map<string, EventBody | null>();
  #flush: ReturnType<typeof setTimeout> | undefined;

  /** `apply` receives the changes; it returns false if it is too early to apply them. */
  constructor(private readonly apply: (changes: Changes) => boolean) {}

  take(body: StreamBody): void {
    if (!body.event_id) return;
    const event = body.event ?? body.intervention?.after ?? null;
    if (event !== null) this.#pending.set(body.event_id, event);
    else if (body.intervention?.changed) this.#pending.set(body.event_id, null);
    else return;
    // An import reports thousands of events: apply them in batches.
    this.#schedule();
  }

  #schedule(): void {
    this.#flush ??= setTimeout(() => {
      this.#flush = undefined;
      if (this.apply(this.#pending)) this.#pending = new Map();
      else this.#schedule();
    }, BATCH_MS);
  }

  /** Starts flashes and collects the changes outside the view. */
  show(changes: Changes, from: Micros, to: Micros): void {
    const now = performance.now();
    const flashes = new Map([...this.flashes].filter(([, { since }]) => now - since < FLASH_MS));
    const unseen = new Map(this.elsewhere);
    for (const [id, event] of [...changes].slice(-FLASHES_MAX)) {
      const time = event === null ? null : parse(event.time);
      if (time !== null) flashes.set(id, { since: now, time });
    }
    for (const [id, event] of changes) {
      const time = event === null ? null : parse(event.time);
      if (time === null) unseen.delete(id);
      else unseen.set(id, time);
    }
    this.flashes = flashes;
    this.elsewhere = unseen;
    this.see(from, to);
  }

  /** Drops changes that are in view now. */
  see(from: Micros, to: Micros): void {
    this.elsewhere = new Map([...this.elsewhere].filter(([, time]) => time < from || time > to));
  }

  /** Drops all changes when something else is displayed. */
  forget(): void {
    this.#pending = new Map();
    this.flashes = new Map();
    this.elsewhere = new Map();
  }

  close(): void {
    clearTimeout(this.#flush);
  }
}

/** Returns the changes in a box, including removed events, which may have been there. */
export function changesIn(box: Box | null, changes: Changes): Changes {
  if (box === null) return changes;
  return new Map([...changes].filter(([, event]) => event === null || (event.geo != null && isWithin(box, event.geo))));
}

/** Returns the time range of changes; null if it is unknown because an event was removed. */
export function spanOf(changes: Changes): { from: Micros; to: Micros } | null {
  let span: { from: Micros; to: Micros } | null = null;
  for (const event of changes.values()) {
    const time = event === null ? null : parse(event.time);
    if (time === null) return null;
    if (span === null) span = { from: time, to: time };
    else if (time < span.from) span.from = time;
    else if (time > span.to) span.to = time;
  }
  return span;
}
