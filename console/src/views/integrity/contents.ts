/**
 * What entries say, compared with what was signed: each payload with its leaf, and the tree over all leaves with a
 * checkpoint. Nothing here asks the service.
 */
import { equal, fromHex, leafHash, nodeHash, emptyRoot, sha256, toHex, utf8, type Bytes } from '../../lib/merkle';
import type { Checkpoint } from '../../lib/note';
import type { Check } from './check';

/** One entry as the service answers it. */
export interface EntryBody {
  position: number;
  leaf: string;
  contents: string;
  salt?: string;
  payload?: string;
}

/** One page of entries. */
export interface EntriesBody {
  entries: EntryBody[];
  size: number;
  checkpoint: string;
  verifier_key: string;
}

/** What of a leaf is looked at. */
interface Leaf {
  seq: number;
  timeline_id: string;
  action: string;
  payload_hash: string;
  v: number;
}

/** Something that is not as it was signed. */
export interface Difference {
  position: number;
  told: string;
}

const DIFFERENCES_SHOWN = 20;

/** The entries of one ledger, taken one after the other from the first on. */
export class Contents {
  /** Roots of the full subtrees, the largest first. */
  #subtrees: Bytes[] = [];
  #size = 0;
  #fit = 0;
  #differences: Difference[] = [];
  #hidden = new Map<string, number>();
  /** Positions without payload, and which were named by an entry that erased them. */
  #missing: number[] = [];
  #erased = new Set<number>();
  #reads = 0;

  constructor(private readonly timeline: string) {}

  get size(): number {
    return this.#size;
  }

  get differences(): readonly Difference[] {
    return this.#differences;
  }

  /** Takes the next entry. */
  async take(entry: EntryBody): Promise<void> {
    const position = this.#size;
    await this.#push(await leafHash(utf8(entry.leaf)));
    const leaf = readLeaf(entry.leaf);
    if (leaf?.seq !== position || leaf.timeline_id !== this.timeline) {
      this.#differ(position, 'It says that it stands elsewhere, or cannot be read.');
      return;
    }
    if (entry.contents === 'admins_only') {
      this.#hidden.set(leaf.action, (this.#hidden.get(leaf.action) ?? 0) + 1);
    } else if (entry.contents === 'erased') {
      this.#missing.push(position);
    } else if (leaf.action === 'reads' && leaf.v === 2) {
      this.#reads += 1;
    } else {
      await this.#compare(position, leaf, entry);
    }
  }

  async #compare(position: number, leaf: Leaf, { salt = '', payload = '' }: EntryBody): Promise<void> {
    const bytes = fromHex(salt);
    const found = bytes?.length === 16 ? toHex(await sha256(bytes, utf8(payload))) : null;
    if (found !== leaf.payload_hash) {
      const own = found === null ? 'Its salt is none' : `Its payload hashes to ${found}`;
      this.#differ(position, `${own}, and ${leaf.payload_hash} was signed.`);
      return;
    }
    this.#fit += 1;
    if (leaf.action === 'erase_data') for (const gone of erasedBy(payload)) this.#erased.add(gone);
  }

  #differ(position: number, told: string): void {
    this.#differences.push({ position, told });
  }

  async #push(hash: Bytes): Promise<void> {
    this.#size += 1;
    let top = hash;
    for (let rest = this.#size; rest % 2 === 0; rest /= 2) {
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

  /** Tells whether something is missing that no entry has erased so far. */
  get isUnexplained(): boolean {
    return this.#missing.some((position) => !this.#erased.has(position));
  }

  /** Compares the tree with a signed one of the same size. */
  async checkTree(checkpoint: Checkpoint): Promise<Check> {
    const what = `The tree of ${checkpoint.size.toLocaleString('en')}`;
    return checkpoint.size === this.#size && equal(await this.root(), checkpoint.root)
      ? { what, told: 'The entries lead to the root that was signed.', state: 'good' }
      : { what, told: 'The entries lead to another root than the one that was signed.', state: 'bad' };
  }

  /** Tells what was compared, what was found, and what could not be. */
  checks(): Check[] {
    const unexplained = this.#missing.filter((position) => !this.#erased.has(position));
    for (const position of unexplained)
      this.#differ(position, 'Salt and payload are missing, and no entry says that they were erased.');
    const { length } = this.#differences;
    const checks: Check[] = [
      length === 0
        ? { what: 'Payloads', told: `${count(this.#fit, 'payload')} fit what was signed.`, state: 'good' }
        : { what: 'Payloads', told: `${count(length, 'entry', 'entries')} not as signed.`, state: 'bad' },
    ];
    const erased = this.#missing.length - unexplained.length;
    if (erased > 0)
      checks.push({
        what: 'Erased',
        told: `${count(erased, 'payload')} erased, each by an entry that says so.`,
        state: 'unknown',
      });
    if (this.#hidden.size > 0) {
      const all = [...this.#hidden].sort(([a], [b]) => (a < b ? -1 : 1));
      const told = all.map(([action, number]) => `${number.toLocaleString('en')} ${action}`).join(', ');
      checks.push({ what: 'Not yours to see', told: `Payloads for administrators: ${told}.`, state: 'unknown' });
    }
    if (this.#reads > 0)
      checks.push({
        what: 'Reads',
        told: `${count(this.#reads, 'entry', 'entries')} of reads: examples/verify.py compares those.`,
        state: 'unknown',
      });
    return checks;
  }

  /** Returns the first differences, by position. */
  shown(): Difference[] {
    return [...this.#differences].sort((a, b) => a.position - b.position).slice(0, DIFFERENCES_SHOWN);
  }
}

function count(number: number, one: string, many = `${one}s`): string {
  return `${number.toLocaleString('en')} ${number === 1 ? one : many}`;
}

function readLeaf(text: string): Leaf | null {
  try {
    return JSON.parse(text) as Leaf | null;
  } catch {
    return null;
  }
}

/** Returns the positions whose contents an erasure let go. */
function erasedBy(payload: string): number[] {
  const { position, also = [] } = JSON.parse(payload) as { position: number; also?: number[] };
  return [position, ...also];
}
