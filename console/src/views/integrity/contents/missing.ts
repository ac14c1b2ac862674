/**
 * Payloads that are missing from a ledger, and the later entries that erased or pruned them (docs/specs/ledger-2.md
 * §7). If a sweep lists an entry that it may not prune, none of its entries count as pruned.
 */
import { parse, type Micros } from '../../../lib/time/instant';
import { concat, sha256, toHex, type Bytes } from '../../../lib/ledger/merkle';

/** The fields of a leaf that are used here. */
export interface Leaf {
  seq: number;
  timeline_id: string;
  action: string;
  payload_hash: string;
  recorded_at: string;
  v: number;
}

/** Why an erasure or sweep is not valid. */
export class Fault extends Error {}

type Class = 'reads' | 'refusals';
type Run = readonly [first: number, last: number];

/** An entry without payload. */
interface Missing {
  position: number;
  leaf: Leaf;
  hash: Bytes;
  by: 'erased' | 'pruned' | null;
}

/** The retention of each class from a position on; null is forever. */
interface Policy {
  position: number;
  periods: Record<Class, Micros | null>;
}

/** The retention class of an action. Other actions are never pruned. */
const CLASSES = new Map<string, Class>([
  ['read', 'reads'],
  ['reads', 'reads'],
  ['unauthorized_access_attempt', 'refusals'],
  ['unauthorized_access_attempts', 'refusals'],
]);

/** Actions that concern events. Only these can be erased. */
const ON_EVENTS = new Set(['record_event', 'correct_event', 'manipulate_event']);

const SECOND = 1_000_000n;

/**
 * The entries of one ledger without payload. They must be added in order, and before the entries that erase or prune
 * them.
 */
export class MissingContents {
  /** In ascending order of position. */
  #missing: Missing[] = [];
  #policies: Policy[] = [];
  /** By position of the entry: indices of missing reads that no entry has erased so far. */
  #missingReads = new Map<number, Set<number>>();

  /** Adds an entry without payload. */
  miss(leaf: Leaf, hash: Bytes): void {
    this.#missing.push({ position: leaf.seq, leaf, hash, by: null });
  }

  /** Adds a missing read of an entry. */
  missRead(position: number, number: number): void {
    const missing = this.#missingReads.get(position) ?? new Set();
    this.#missingReads.set(position, missing.add(number));
  }

  /** Returns the positions that no entry has erased or pruned so far. */
  get unexplained(): number[] {
    return this.#missing.filter(({ by }) => by === null).map(({ position }) => position);
  }

  /** Returns the positions of entries with missing reads that no entry has erased so far. */
  get unexplainedReads(): number[] {
    return [...this.#missingReads].filter(([, numbers]) => numbers.size > 0).map(([position]) => position);
  }

  /** Returns the number of entries that were erased or pruned. */
  count(way: 'erased' | 'pruned'): number {
    return this.#missing.filter(({ by }) => by === way).length;
  }

  /**
   * Applies an entry that erases or prunes others, or that sets the retention.
   *
   * @throws {Fault} if the entry is not valid
   */
  async take(leaf: Leaf, payload: string): Promise<void> {
    if (leaf.action === 'erase_data') this.#erase(leaf, payload);
    // In version 1, entries with these actions do not erase or prune.
    if (leaf.v !== 2) return;
    if (leaf.action === 'erase_events') this.#erase(leaf, payload);
    if (leaf.action === 'erase_reads') this.#eraseReads(payload);
    if (leaf.action === 'set_retention') this.#policies.push(policyOf(leaf, payload));
    if (leaf.action === 'sweep') await this.#sweep(leaf, payload);
  }

  #erase(leaf: Leaf, payload: string): void {
    const { event_id, position, also = [], versions = [], interventions = [] } = objectOf(payload);
    const ones = [...(position === undefined ? [] : [position]), ...arrayOf(also)].map(whole);
    const runs = [...ones.map((item): Run => [item, item]), ...runsOf(versions), ...runsOf(interventions)];
    if (runs.some(([, last]) => last >= leaf.seq)) throw new Fault('It erases later entries.');
    // This erases a sealed record. The entries about it stay.
    if (leaf.action === 'erase_data' && typeof event_id !== 'string') return;
    for (const item of this.#named(runs)) if (ON_EVENTS.has(item.leaf.action)) item.by = 'erased';
  }

  #eraseReads(payload: string): void {
    const { position, reads } = objectOf(payload);
    const missing = this.#missingReads.get(whole(position));
    const runs = runsOf(reads);
    for (const read of missing ?? [])
      if (runs.some(([first, last]) => first <= read && read <= last)) missing?.delete(read);
  }

  async #sweep(leaf: Leaf, payload: string): Promise<void> {
    const fields = objectOf(payload);
    const of = fields.class === 'reads' || fields.class === 'refusals' ? fields.class : null;
    const periodMicros = of && (this.#policies.find(({ position }) => position === fields.policy)?.periods[of] ?? null);
    if (of === null || periodMicros === null) throw new Fault('No earlier policy allows this pruning.');
    const cutoff = instantOf(fields.cutoff);
    if (cutoff + periodMicros > instantOf(leaf.recorded_at))
      throw new Fault('Its cutoff is later than its policy allows.');
    const runs = runsOf(fields.positions);
    if (runs.some(([, last]) => last >= leaf.seq)) throw new Fault('It lists later entries.');
    const named = this.#named(runs);
    for (const item of named) this.#checkDue(item, of, cutoff, periodMicros);
    // Entries that still have their payload are not tracked, so the hash can only be checked if all are missing.
    if (named.length === whole(fields.count)) {
      const found = toHex(await sha256(concat(...named.map(({ hash }) => hash))));
      if (found !== fields.leaf_hashes_sha256)
        throw new Fault('The leaf hashes at its positions do not match those it lists.');
    }
    for (const item of named) item.by ??= 'pruned';
  }

  /** Checks that a sweep may prune an entry: right class, old enough, and not kept longer by another policy. */
  #checkDue({ position, leaf }: Missing, of: Class, cutoff: Micros, periodMicros: Micros): void {
    const entry = `It lists entry ${position.toLocaleString('en')}, which`;
    if (CLASSES.get(leaf.action) !== of) throw new Fault(`${entry} belongs to another class.`);
    if (instantOf(leaf.recorded_at) >= cutoff) throw new Fault(`${entry} was not recorded before its cutoff.`);
    // All policies count from the one in force when the entry was recorded.
    const before = this.#policies.filter((policy) => policy.position < position).length;
    const periods = before === 0 ? [null] : this.#policies.slice(before - 1).map((policy) => policy.periods[of]);
    if (periods.some((period) => period === null || period > periodMicros))
      throw new Fault(`${entry} another policy keeps longer.`);
  }

  /** Returns the missing entries in runs of positions, without duplicates and in order. */
  #named(runs: readonly Run[]): Missing[] {
    const found = new Set<Missing>();
    for (const [first, last] of runs)
      for (let at = this.#from(first); at < this.#missing.length; at += 1) {
        const item = this.#missing[at];
        if (item === undefined || item.position > last) break;
        found.add(item);
      }
    return [...found].sort((a, b) => a.position - b.position);
  }

  /** Returns the index of the first missing entry at or after a position. */
  #from(position: number): number {
    let [low, high] = [0, this.#missing.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#missing[middle]?.position ?? position) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const INVALID_PAYLOAD = 'Its payload is not valid for its action.';

function policyOf(leaf: Leaf, payload: string): Policy {
  const fields = objectOf(payload);
  const period = (seconds: unknown): Micros | null => (seconds === null ? null : BigInt(whole(seconds)) * SECOND);
  return {
    position: leaf.seq,
    periods: { reads: period(fields.reads_seconds), refusals: period(fields.refusals_seconds) },
  };
}

/** Parses a payload. A signature does not guarantee a valid payload. */
function objectOf(payload: string): Record<string, unknown> {
  try {
    const fields = JSON.parse(payload) as unknown;
    if (typeof fields === 'object' && fields !== null) return fields as Record<string, unknown>;
  } catch {
    // Thrown below.
  }
  throw new Fault(INVALID_PAYLOAD);
}

function arrayOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value as unknown[];
  throw new Fault(INVALID_PAYLOAD);
}

function runsOf(value: unknown): Run[] {
  return arrayOf(value).map((run) => {
    const [first, last] = arrayOf(run);
    return [whole(first), whole(last)];
  });
}

function whole(value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new Fault(INVALID_PAYLOAD);
}

function instantOf(value: unknown): Micros {
  const at = typeof value === 'string' ? parse(value) : null;
  if (at === null) throw new Fault(INVALID_PAYLOAD);
  return at;
}
