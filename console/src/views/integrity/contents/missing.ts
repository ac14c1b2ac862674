/**
 * What is missing from a ledger, and which later entry let it go: one that erased it, or a sweep that may do so
 * (docs/specs/ledger-2.md §7). A sweep that names what it may not let go lets go nothing of it.
 */
import { parse, type Micros } from '../../../lib/time/instant';
import { concat, sha256, toHex, type Bytes } from '../../../lib/ledger/merkle';

/** What of a leaf is looked at. */
export interface Leaf {
  seq: number;
  timeline_id: string;
  action: string;
  payload_hash: string;
  recorded_at: string;
  v: number;
}

/** Why an entry does not let go what it names. */
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

/** For how long each class is kept from a position on; null is forever. */
interface Policy {
  position: number;
  periods: Record<Class, Micros | null>;
}

/** What may be let go after a time. Whatever has another action is kept until it is erased. */
const CLASSES = new Map<string, Class>([
  ['read', 'reads'],
  ['reads', 'reads'],
  ['unauthorized_access_attempt', 'refusals'],
  ['unauthorized_access_attempts', 'refusals'],
]);

/** What tells of events. Nothing else is erased. */
const ON_EVENTS = new Set(['record_event', 'correct_event', 'manipulate_event']);

const SECOND = 1_000_000n;

/** The entries of one ledger that have no payload. They come in order, and before the entries that let them go. */
export class MissingContents {
  /** By rising positions. */
  #missing: Missing[] = [];
  #policies: Policy[] = [];
  /** Numbers of single reads that are missing and that no entry has named so far, by the position of theirs. */
  #missingReads = new Map<number, Set<number>>();

  /** Notes that an entry has no payload. */
  miss(leaf: Leaf, hash: Bytes): void {
    this.#missing.push({ position: leaf.seq, leaf, hash, by: null });
  }

  /** Notes that one of the reads of an entry is missing. */
  missRead(position: number, number: number): void {
    const missing = this.#missingReads.get(position) ?? new Set();
    this.#missingReads.set(position, missing.add(number));
  }

  /** Returns the positions that no entry has let go so far. */
  get unexplained(): number[] {
    return this.#missing.filter(({ by }) => by === null).map(({ position }) => position);
  }

  /** Returns the positions of reads of which some are missing that no entry has erased so far. */
  get unexplainedReads(): number[] {
    return [...this.#missingReads].filter(([, numbers]) => numbers.size > 0).map(([position]) => position);
  }

  /** Returns how many entries were let go in a way. */
  count(way: 'erased' | 'pruned'): number {
    return this.#missing.filter(({ by }) => by === way).length;
  }

  /**
   * Does what an entry says of other entries.
   *
   * @throws a Fault where it says what it may not
   */
  async take(leaf: Leaf, payload: string): Promise<void> {
    if (leaf.action === 'erase_data') this.#erase(leaf, payload);
    // Entries of the first version that have these names let go nothing.
    if (leaf.v !== 2) return;
    if (leaf.action === 'erase_events') this.#erase(leaf, payload);
    if (leaf.action === 'erase_reads') this.#eraseReads(payload);
    if (leaf.action === 'set_retention') this.#policies.push(policyOf(leaf, payload));
    if (leaf.action === 'sweep') await this.#sweep(leaf, payload);
  }

  #erase(leaf: Leaf, payload: string): void {
    const { event_id, position, also = [], versions = [], interventions = [] } = objectOf(payload);
    const ones = [...(position === undefined ? [] : [position]), ...arrayOf(also)].map(whole);
    const runs = [...ones.map((one): Run => [one, one]), ...runsOf(versions), ...runsOf(interventions)];
    if (runs.some(([, last]) => last >= leaf.seq)) throw new Fault('It erases later entries.');
    // A sealed record goes, and what tells of it stays.
    if (leaf.action === 'erase_data' && typeof event_id !== 'string') return;
    for (const one of this.#named(runs)) if (ON_EVENTS.has(one.leaf.action)) one.by = 'erased';
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
    for (const one of named) this.#checkDue(one, of, cutoff, periodMicros);
    // What it names and is still there is not remembered, and then its hash cannot be computed.
    if (named.length === whole(fields.count)) {
      const found = toHex(await sha256(concat(...named.map(({ hash }) => hash))));
      if (found !== fields.leaf_hashes_sha256)
        throw new Fault('The leaf hashes at its positions do not match those it lists.');
    }
    for (const one of named) one.by ??= 'pruned';
  }

  /** Checks that a sweep may let go an entry: it is of its class, old enough, and no other policy keeps it longer. */
  #checkDue({ position, leaf }: Missing, of: Class, cutoff: Micros, periodMicros: Micros): void {
    const entry = `It lists entry ${position.toLocaleString('en')}, which`;
    if (CLASSES.get(leaf.action) !== of) throw new Fault(`${entry} belongs to another class.`);
    if (instantOf(leaf.recorded_at) >= cutoff) throw new Fault(`${entry} was not recorded before its cutoff.`);
    // The policy that was in force when it was recorded counts, and so does each that was set after.
    const before = this.#policies.filter((policy) => policy.position < position).length;
    const periods = before === 0 ? [null] : this.#policies.slice(before - 1).map((policy) => policy.periods[of]);
    if (periods.some((period) => period === null || period > periodMicros))
      throw new Fault(`${entry} another policy keeps longer.`);
  }

  /** Returns what is missing in runs of positions, each once and in order. */
  #named(runs: readonly Run[]): Missing[] {
    const found = new Set<Missing>();
    for (const [first, last] of runs)
      for (let at = this.#from(first); at < this.#missing.length; at += 1) {
        const one = this.#missing[at];
        if (one === undefined || one.position > last) break;
        found.add(one);
      }
    return [...found].sort((a, b) => a.position - b.position);
  }

  /** Returns where in the list of what is missing a position would be. */
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

/** Reads a payload. What was signed may still say anything. */
function objectOf(payload: string): Record<string, unknown> {
  try {
    const fields = JSON.parse(payload) as unknown;
    if (typeof fields === 'object' && fields !== null) return fields as Record<string, unknown>;
  } catch {
    // It is told below.
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
