/**
 * Compares entries with the signed tree: each payload with its leaf, and the tree of all leaves with a checkpoint. No
 * requests are sent.
 */
import { countText, entriesText } from '../../../lib/events/words';
import {
  equal,
  fromHex,
  leafHash,
  nodeHash,
  emptyRoot,
  sha256,
  toHex,
  utf8,
  type Bytes,
} from '../../../lib/ledger/merkle';
import type { Checkpoint } from '../../../lib/ledger/note';
import type { Check } from '../check';
import { Fault, MissingContents, type Leaf } from './missing';

/** An entry in the response of the service. */
export interface EntryBody {
  position: number;
  leaf: string;
  contents: string;
  salt?: string | null;
  payload?: string | null;
}

/** A page of entries. */
export interface EntriesBody {
  entries: EntryBody[];
  size: number;
  checkpoint: string;
  verifier_key: string;
}

/** A mismatch with the signed data. */
export interface Difference {
  position: number;
  detail: string;
}

const VISIBLE_DIFFERENCES_MAX = 20;

/** A Merkle tree built by appending leaves. */
class Tree {
  /** Roots of the full subtrees, largest first. */
  #subtrees: Bytes[] = [];
  size = 0;

  async push(hash: Bytes): Promise<void> {
    this.size += 1;
    let top = hash;
    for (let rest = this.size; rest % 2 === 0; rest /= 2) {
      const left = this.#subtrees.pop();
      if (left !== undefined) top = await nodeHash(left, top);
    }
    this.#subtrees.push(top);
  }

  async root(): Promise<Bytes> {
    let root: Bytes | null = null;
    for (const left of [...this.#subtrees].reverse()) root = root === null ? left : await nodeHash(left, root);
    return root ?? emptyRoot();
  }
}

/** The entries of one ledger, added in order from the first. */
export class Contents {
  #tree = new Tree();
  #fit = 0;
  #differences: Difference[] = [];
  #hidden = new Map<string, number>();
  /** Entries without payload, and the entries that erased or pruned them. */
  #missing = new MissingContents();

  constructor(private readonly timeline: string) {}

  get size(): number {
    return this.#tree.size;
  }

  get differences(): readonly Difference[] {
    return this.#differences;
  }

  /** Adds the next entry. */
  async take(entry: EntryBody): Promise<void> {
    const position = this.size;
    const hash = await leafHash(utf8(entry.leaf));
    await this.#tree.push(hash);
    const leaf = readLeaf(entry.leaf);
    if (leaf?.seq !== position || leaf.timeline_id !== this.timeline) {
      this.#differ(position, 'It names another position, or cannot be read.');
      return;
    }
    if (entry.contents === 'restricted') {
      this.#hidden.set(leaf.action, (this.#hidden.get(leaf.action) ?? 0) + 1);
    } else if (entry.contents === 'erased') {
      this.#missing.miss(leaf, hash);
    } else {
      await this.#compare(position, leaf, entry);
    }
  }

  async #compare(position: number, leaf: Leaf, entry: EntryBody): Promise<void> {
    const payload = entry.payload ?? '';
    const bytes = fromHex(entry.salt ?? '');
    const isOfReads = leaf.action === 'reads' && leaf.v === 2;
    const found =
      bytes === null ? null : isOfReads ? await this.#readsHash(position, bytes, payload) : await plain(bytes, payload);
    if (found !== leaf.payload_hash) {
      const own = found === null ? 'Its salt or payload is invalid' : `Its payload hashes to ${found}`;
      this.#differ(position, `${own}, but ${leaf.payload_hash} was signed.`);
      return;
    }
    this.#fit += 1;
    try {
      await this.#missing.take(leaf, payload);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      this.#differ(position, error.message);
    }
  }

  /** Returns the hash of reads, some of which may have been erased, or null if the payload is not a list of reads. */
  async #readsHash(position: number, salt: Bytes, payload: string): Promise<string | null> {
    const tree = new Tree();
    const reads = arrayOf(payload);
    if (reads === null || (salt.length !== 0 && salt.length !== 16)) return null;
    const key = salt.length === 16 ? await hmacKey(salt) : null;
    for (const [number, item] of reads.entries()) {
      const digest = key === null ? await storedDigest(item) : await sha256(await derived(key, number), json(item));
      if (digest === null) return null;
      if (key === null && 'erased' in item) this.#missing.missRead(position, number);
      await tree.push(await leafHash(digest));
    }
    return toHex(await tree.root());
  }

  #differ(position: number, detail: string): void {
    this.#differences.push({ position, detail });
  }

  root(): Promise<Bytes> {
    return this.#tree.root();
  }

  /** Whether data is missing that no entry has erased or pruned so far. */
  get isUnexplained(): boolean {
    return this.#missing.unexplained.length > 0 || this.#missing.unexplainedReads.length > 0;
  }

  /** Compares the tree with a signed one of the same size. */
  async checkTree(checkpoint: Checkpoint): Promise<Check> {
    const what = `The tree of ${checkpoint.size.toLocaleString('en')}`;
    return checkpoint.size === this.size && equal(await this.#tree.root(), checkpoint.root)
      ? { what, detail: 'The entries lead to the signed root.', state: 'good' }
      : { what, detail: 'The entries lead to a different root than the signed one.', state: 'bad' };
  }

  /** Returns what was compared, the mismatches, and what could not be compared. */
  checks(): Check[] {
    for (const position of this.#missing.unexplained)
      this.#differ(position, 'Salt and payload are missing, but no entry erased or pruned them.');
    for (const position of this.#missing.unexplainedReads)
      this.#differ(position, 'A read is missing, but no entry erased it.');
    const { length } = this.#differences;
    const checks: Check[] = [
      length === 0
        ? { what: 'Payloads', detail: `${countText(this.#fit, 'payload')} match the signed hashes.`, state: 'good' }
        : {
            what: 'Payloads',
            detail: `${entriesText(length)} do not match the signed hashes.`,
            state: 'bad',
          },
    ];
    const [erased, pruned] = [this.#missing.count('erased'), this.#missing.count('pruned')];
    if (erased > 0)
      checks.push({
        what: 'Erased',
        detail: `${countText(erased, 'payload')} erased, each recorded by a later entry.`,
        state: 'unknown',
      });
    if (pruned > 0)
      checks.push({
        what: 'Retention',
        detail: `${countText(pruned, 'payload')} pruned, as the retention of the timeline allows.`,
        state: 'unknown',
      });
    if (this.#hidden.size > 0) {
      const all = [...this.#hidden].sort(([a], [b]) => (a < b ? -1 : 1));
      const actions = all.map(([action, number]) => `${number.toLocaleString('en')} ${action}`).join(', ');
      checks.push({ what: 'No access', detail: `Payloads for administrators: ${actions}.`, state: 'unknown' });
    }
    return checks;
  }

  /** Returns the first differences by position. */
  listed(): Difference[] {
    return [...this.#differences].sort((a, b) => a.position - b.position).slice(0, VISIBLE_DIFFERENCES_MAX);
  }
}

function readLeaf(text: string): Leaf | null {
  try {
    return JSON.parse(text) as Leaf | null;
  } catch {
    return null;
  }
}

async function plain(salt: Bytes, payload: string): Promise<string | null> {
  return salt.length === 16 ? toHex(await sha256(salt, utf8(payload))) : null;
}

function arrayOf(payload: string): object[] | null {
  try {
    const found = JSON.parse(payload) as unknown;
    const isOfReads = Array.isArray(found) && found.every((item) => typeof item === 'object' && item !== null);
    return isOfReads && JSON.stringify(found) === payload ? (found as object[]) : null;
  } catch {
    return null;
  }
}

/** Returns the canonical bytes of a value. The payload was checked to be canonical. */
function json(value: unknown): Bytes {
  return utf8(JSON.stringify(value));
}

/**
 * Returns the digest of a read in an entry with erased reads: computed with its own salt, or stored if it was erased.
 */
async function storedDigest(item: { erased?: string; read?: object; salt?: string }): Promise<Bytes | null> {
  if (typeof item.erased === 'string') return fromHex(item.erased);
  const salt = fromHex(item.salt ?? '');
  return salt?.length === 16 && item.read !== undefined ? sha256(salt, json(item.read)) : null;
}

function hmacKey(salt: Bytes): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', salt, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
}

/** Returns the salt of one read, derived from the salt of the entry. */
async function derived(key: CryptoKey, number: number): Promise<Bytes> {
  const message = new DataView(new ArrayBuffer(4));
  message.setUint32(0, number);
  return new Uint8Array(await crypto.subtle.sign('HMAC', key, message)).slice(0, 16);
}
