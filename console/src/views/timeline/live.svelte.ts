/** What becomes of the timeline while one looks: what flashes, and what happened out of sight. */
import { parse, type Micros } from '../../lib/time/instant';
import { isWithin, type Box } from '../../lib/address/ranges';
import type { EventBody } from '../../lib/events/store';

interface StreamBody {
  event_id?: string | null;
  event?: EventBody | null;
  intervention?: { changed: boolean; after?: EventBody | null } | null;
}

/** Events by id; null for those that are no more. */
export type Changes = ReadonlyMap<string, EventBody | null>;

interface Flash {
  since: number;
  time: Micros;
}
export type Flashes = ReadonlyMap<string, Flash>;

const TOGETHER_MS = 200;
const FLASH_MS = 2_000;
const FLASHES_MAX = 200;

export class Live {
  /** Events that came or changed while one looked. */
  flashes = $state.raw<Flashes>(new Map());
  /** What came or changed out of sight while one looked, the latest last. */
  elsewhere = $state.raw<ReadonlyMap<string, Micros>>(new Map());

  #pending = new Map<string, EventBody | null>();
  #flush: ReturnType<typeof setTimeout> | undefined;

  /** `apply` is told what changed; it returns false where that comes too early. */
  constructor(private readonly apply: (changes: Changes) => boolean) {}

  take(body: StreamBody): void {
    if (!body.event_id) return;
    const event = body.event ?? body.intervention?.after ?? null;
    if (event !== null) this.#pending.set(body.event_id, event);
    else if (body.intervention?.changed) this.#pending.set(body.event_id, null);
    else return;
    // Imports tell thousands at once: they are put in together.
    this.#later();
  }

  #later(): void {
    this.#flush ??= setTimeout(() => {
      this.#flush = undefined;
      if (this.apply(this.#pending)) this.#pending = new Map();
      else this.#later();
    }, TOGETHER_MS);
  }

  /** Lets what changed flash, and remembers what nobody saw, until one goes there. */
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

  /** Forgets what was told: something else is shown now. */
  forget(): void {
    this.#pending = new Map();
    this.flashes = new Map();
    this.elsewhere = new Map();
  }

  close(): void {
    clearTimeout(this.#flush);
  }
}

/** Returns what changed in a box; what is gone may have been there. */
export function changesIn(box: Box | null, changes: Changes): Changes {
  if (box === null) return changes;
  return new Map([...changes].filter(([, event]) => event === null || (event.geo != null && isWithin(box, event.geo))));
}

/** Returns between which moments something changed; null where it was taken from one that is not known. */
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
