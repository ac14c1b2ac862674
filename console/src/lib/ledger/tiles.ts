/**
 * Hashes of a ledger's tree from tiles (docs/specs/ledger.md §4), and consistency proofs computed from them. Full tiles
 * never change and partial tiles only grow. A proof from the service ends at the newest tree; this one ends at a size
 * known in advance.
 */
import { nodeHash, split, type Bytes } from './merkle';

const TILE_HASHES = 256;
const TILE_LEVELS = 8;
const HASH_BYTES = 32;

/** Returns the bytes of a tile. The name is the path after `tile/`. */
type ReadTile = (name: string) => Promise<Uint8Array>;

/** Returns the name of the tile that contains a hash of a level in a tree of `size` entries. */
export function tileName(level: number, hash: number, size: number): string {
  const index = Math.floor(hash / TILE_HASHES);
  const width = Math.min(Math.floor(size / TILE_HASHES ** level) - index * TILE_HASHES, TILE_HASHES);
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/.../g) ?? [];
  const path = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join('/');
  return `${level}/${path}${width < TILE_HASHES ? `.p/${width}` : ''}`;
}

/** A tree of `size` entries that loads hashes on demand. */
class TiledTree {
  #tiles = new Map<string, Promise<Uint8Array>>();

  constructor(
    readonly size: number,
    private readonly read: ReadTile,
  ) {}

  /** Returns the root over the entries from `first` up to but not including `end`. */
  async root(first: number, end: number): Promise<Bytes> {
    const length = end - first;
    const height = Math.log2(length);
    // A full, aligned subtree is computed from hashes of a single tile.
    if (Number.isInteger(height) && first % length === 0) {
      const level = Math.floor(height / TILE_LEVELS);
      const each = TILE_HASHES ** level;
      return this.#over(level, first / each, length / each);
    }
    const middle = first + split(length);
    return nodeHash(await this.root(first, middle), await this.root(middle, end));
  }

  /** Returns the root over `count` hashes of a level. `count` is a power of two. */
  async #over(level: number, index: number, count: number): Promise<Bytes> {
    if (count === 1) return this.#hash(level, index);
    const half = count / 2;
    return nodeHash(...(await Promise.all([this.#over(level, index, half), this.#over(level, index + half, half)])));
  }

  async #hash(level: number, index: number): Promise<Bytes> {
    const name = tileName(level, index, this.size);
    const tile = this.#tiles.get(name) ?? this.read(name);
    this.#tiles.set(name, tile);
    const at = (index % TILE_HASHES) * HASH_BYTES;
    return new Uint8Array((await tile).slice(at, at + HASH_BYTES));
  }
}

/** Returns the consistency proof between trees of `old` and `size` entries (RFC 6962 §2.1.2). */
export async function consistencyProof(old: number, size: number, read: ReadTile): Promise<Bytes[]> {
  const tree = new TiledTree(size, read);
  if (old <= 0 || old >= size) return [];
  const proof: Bytes[] = [];
  let [first, end, isWhole] = [0, size, true];
  // Descend from the root to the end of the old tree and collect siblings.
  while (old < end) {
    const middle = first + split(end - first);
    if (old <= middle) {
      proof.unshift(await tree.root(middle, end));
      end = middle;
    } else {
      proof.unshift(await tree.root(first, middle));
      [first, isWhole] = [middle, false];
    }
  }
  return isWhole ? proof : [await tree.root(first, end), ...proof];
}
