/**
 * The Merkle tree of a ledger, computed in the browser: docs/specs/ledger.md §3 (RFC 6962 §2.1) with SHA-256 from
 * WebCrypto. Data from the service is untrusted input here.
 */
export type Bytes = Uint8Array<ArrayBuffer>;

const HASH_BYTES = 32;

/** Whether WebCrypto is available: browsers restrict it to HTTPS and localhost. */
export function hasCrypto(): boolean {
  return 'subtle' in crypto;
}

export async function sha256(...parts: Bytes[]): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', concat(...parts)));
}

export function concat(...parts: Bytes[]): Bytes {
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

export function utf8(text: string): Bytes {
  return new TextEncoder().encode(text);
}

export function equal(a: Bytes, b: Bytes): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

export function toHex(bytes: Bytes): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Parses lowercase hexadecimal of whole bytes; null if invalid. */
export function fromHex(text: string): Bytes | null {
  if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(text)) return null;
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

export function toBase64(bytes: Bytes): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}

/** Parses padded base64 in canonical form; null if invalid. */
export function fromBase64(text: string): Bytes | null {
  try {
    const bytes = Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
    return toBase64(bytes) === text ? bytes : null;
  } catch {
    return null;
  }
}

export function leafHash(entry: Bytes): Promise<Bytes> {
  return sha256(Uint8Array.of(0), entry);
}

export function nodeHash(left: Bytes, right: Bytes): Promise<Bytes> {
  return sha256(Uint8Array.of(1), left, right);
}

export function emptyRoot(): Promise<Bytes> {
  return sha256();
}

/** The entries under a node, from `first` up to but not including `end`. */
export interface Range {
  first: number;
  end: number;
}

/** One step from a leaf to the root. */
export interface Step {
  /** The node below, and its hash. */
  own: Range;
  ownHash: Bytes;
  sibling: Range;
  siblingHash: Bytes;
  /** Whether the sibling is on the left. */
  isLeft: boolean;
  parent: Range;
  parentHash: Bytes;
}

/** Returns the largest power of two smaller than `size`. */
export function split(size: number): number {
  let half = 1;
  while (half * 2 < size) half *= 2;
  return half;
}

/** Returns the sibling nodes on the path from an entry to the root, leaf first. */
export function siblings(
  index: number,
  size: number,
): { own: Range; sibling: Range; isLeft: boolean; parent: Range }[] {
  const way: { own: Range; sibling: Range; isLeft: boolean; parent: Range }[] = [];
  let range: Range = { first: 0, end: size };
  while (range.end - range.first > 1) {
    const middle = range.first + split(range.end - range.first);
    const [left, right] = [
      { first: range.first, end: middle },
      { first: middle, end: range.end },
    ];
    const isLeft = index >= middle;
    way.unshift({ own: isLeft ? right : left, sibling: isLeft ? left : right, isLeft, parent: range });
    range = isLeft ? right : left;
  }
  return way;
}

/**
 * Computes the path from a leaf to the root with an inclusion proof. Returns null if the number of hashes does not
 * match the tree size. The caller must compare the last parent with the signed root.
 */
export async function climb(leaf: Bytes, index: number, size: number, proof: readonly Bytes[]): Promise<Step[] | null> {
  if (!Number.isSafeInteger(index) || !Number.isSafeInteger(size) || index < 0 || index >= size) return null;
  const way = siblings(index, size);
  if (way.length !== proof.length || proof.some((hash) => hash.length !== HASH_BYTES)) return null;
  const steps: Step[] = [];
  let ownHash = leaf;
  for (const [level, siblingHash] of proof.entries()) {
    const place = way[level];
    if (place === undefined) return null;
    const parentHash = await (place.isLeft ? nodeHash(siblingHash, ownHash) : nodeHash(ownHash, siblingHash));
    steps.push({ ...place, ownHash, siblingHash, parentHash });
    ownHash = parentHash;
  }
  return steps;
}

/** Verifies a consistency proof: the tree of the first `old` entries is a prefix of the tree of `size` entries. */
export async function isConsistent(
  old: number,
  oldRoot: Bytes,
  size: number,
  root: Bytes,
  proof: readonly Bytes[],
): Promise<boolean> {
  if (old > size || old < 0) return false;
  if (old === 0) return proof.length === 0 && equal(oldRoot, await emptyRoot());
  if (old === size) return proof.length === 0 && equal(oldRoot, root);
  if (proof.length === 0) return false;
  // If the old tree is a complete subtree of the new one, its root starts the path.
  const [first, ...others] = 2 ** Math.floor(Math.log2(old)) === old ? [oldRoot, ...proof] : proof;
  if (first === undefined) return false;
  let from = old - 1;
  let last = size - 1;
  while (from % 2 === 1) [from, last] = [half(from), half(last)];
  let oldHash = first;
  let newHash = first;
  for (const hash of others) {
    if (last === 0) return false;
    if (from % 2 === 1 || from === last) {
      oldHash = await nodeHash(hash, oldHash);
      newHash = await nodeHash(hash, newHash);
      while (from % 2 === 0 && from !== 0) [from, last] = [half(from), half(last)];
    } else {
      newHash = await nodeHash(newHash, hash);
    }
    [from, last] = [half(from), half(last)];
  }
  return last === 0 && equal(oldHash, oldRoot) && equal(newHash, root);
}

/** Positions go up to 2^53; bit shifts are limited to 32 bits. */
const half = (value: number): number => Math.floor(value / 2);
