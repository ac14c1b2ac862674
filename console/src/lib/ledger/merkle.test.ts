import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  climb,
  emptyRoot,
  fromBase64,
  fromHex,
  isConsistent,
  leafHash,
  nodeHash,
  siblings,
  split,
  toHex,
  utf8,
  type Bytes,
} from './merkle';
import { bundlePath, proofFile, readBundle, readKey, readNote, timelineOf, verify, type Checkpoint } from './note';

/**
 * The frozen vectors of docs/specs/ledger.md, made by a program that shares no code with the service or the console.
 */
interface Vectors {
  leaves: { entry: string; leaf_hash: string }[];
  roots: string[];
  inclusion: { index: number; size: number; proof: string[] }[];
  consistency: { old: number; new: number; proof: string[] }[];
  key: { verifier_key: string; origin: string };
  checkpoints: { size: number; root: string; note: string }[];
  tlog_proof: { index: number; text: string };
}
const vectors = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../../../test-data/ledger-format-v1.json'), 'utf8'),
) as Vectors;

const hash = (hex: string): Bytes => {
  const bytes = fromHex(hex);
  if (bytes === null) throw new Error(`no hash: ${hex}`);
  return bytes;
};

describe('bytes', () => {
  it('are read in their one spelling', () => {
    expect(fromHex('0A')).toBeNull();
    expect(fromHex('abc')).toBeNull();
    expect(toHex(hash('00ff10'))).toBe('00ff10');
    expect(fromBase64('AA==')).toEqual(Uint8Array.of(0));
    // Bits that are thrown away, missing padding and white space are other spellings of the same.
    expect(fromBase64('AB==')).toBeNull();
    expect(fromBase64('AA')).toBeNull();
    expect(fromBase64(' AA==')).toBeNull();
  });
});

describe('the tree', () => {
  it('has the leaf hashes and roots of the format', async () => {
    expect(toHex(await emptyRoot())).toBe(vectors.roots[0]);
    for (const leaf of vectors.leaves) expect(toHex(await leafHash(utf8(leaf.entry)))).toBe(leaf.leaf_hash);
    const [a, b] = vectors.leaves.map((leaf) => hash(leaf.leaf_hash));
    expect(toHex(await nodeHash(a!, b!))).toBe(vectors.roots[2]);
  });

  it('is split at the largest power of two', () => {
    expect([2, 3, 4, 5, 8, 9, 257].map(split)).toEqual([1, 2, 2, 4, 4, 8, 256]);
    expect(siblings(4, 5)).toEqual([
      { own: { first: 4, end: 5 }, sibling: { first: 0, end: 4 }, isLeft: true, parent: { first: 0, end: 5 } },
    ]);
    expect(siblings(0, 1)).toEqual([]);
  });

  it('is climbed to the root by every proof of the format', async () => {
    expect(vectors.inclusion.length).toBeGreaterThan(3);
    for (const { index, size, proof } of vectors.inclusion) {
      const steps = await climb(hash(vectors.leaves[index]!.leaf_hash), index, size, proof.map(hash));
      expect(toHex(steps!.at(-1)!.parentHash)).toBe(vectors.roots[size]);
      expect(steps!.at(-1)!.parent).toEqual({ first: 0, end: size });
    }
  });

  it('is not climbed with a hash too many, too few, another one or another place', async () => {
    const { index, size, proof } = vectors.inclusion.find((each) => each.size === 5 && each.proof.length > 1)!;
    const leaf = hash(vectors.leaves[index]!.leaf_hash);
    const hashes = proof.map(hash);
    expect(await climb(leaf, index, size, hashes.slice(1))).toBeNull();
    expect(await climb(leaf, index, size, [...hashes, hashes[0]!])).toBeNull();
    expect(await climb(leaf, size, size, hashes)).toBeNull();
    expect(await climb(leaf, -1, size, hashes)).toBeNull();
    expect(await climb(leaf, index, size, [hashes[0]!.slice(1), ...hashes.slice(1)])).toBeNull();
    const other = [hash(vectors.roots[1]!), ...hashes.slice(1)];
    expect(toHex((await climb(leaf, index, size, other))!.at(-1)!.parentHash)).not.toBe(vectors.roots[size]);
  });

  it('is continued, as every consistency proof of the format shows, and by no other', async () => {
    for (const { old, new: size, proof } of vectors.consistency) {
      const [oldRoot, root, hashes] = [hash(vectors.roots[old]!), hash(vectors.roots[size]!), proof.map(hash)];
      expect(await isConsistent(old, oldRoot, size, root, hashes)).toBe(true);
      expect(await isConsistent(old, oldRoot, size, root, [...hashes, root])).toBe(false);
      if (proof.length === 0) continue;
      expect(await isConsistent(old, root, size, oldRoot, hashes)).toBe(false);
      expect(await isConsistent(old, oldRoot, size, root, hashes.slice(1))).toBe(false);
    }
    const [empty, five] = [hash(vectors.roots[0]!), hash(vectors.roots[5]!)];
    expect(await isConsistent(0, empty, 5, five, [])).toBe(true);
    expect(await isConsistent(5, five, 5, five, [])).toBe(true);
    expect(await isConsistent(5, empty, 5, five, [])).toBe(false);
    expect(await isConsistent(6, five, 5, five, [])).toBe(false);
  });
});

describe('a checkpoint', () => {
  const read = (note: string): Checkpoint => {
    const checkpoint = readNote(note);
    if (typeof checkpoint === 'string') throw new Error(checkpoint);
    return checkpoint;
  };

  it('is read and verified with its key', async () => {
    const key = await readKey(vectors.key.verifier_key);
    for (const { size, root, note } of vectors.checkpoints) {
      const checkpoint = read(note);
      expect([checkpoint.origin, checkpoint.size, toHex(checkpoint.root)]).toEqual([vectors.key.origin, size, root]);
      expect(await verify(checkpoint, key!)).toBe('signed');
    }
    expect(timelineOf(vectors.key.origin)).toBe('apollo-11');
  });

  it('is not believed with another size, key or origin', async () => {
    const key = (await readKey(vectors.key.verifier_key))!;
    const { note } = vectors.checkpoints.at(-1)!;
    expect(await verify(read(note.replace('\n5\n', '\n6\n')), key)).toBe('wrong signature');
    expect(await verify(read(note), { ...key, id: Uint8Array.of(1, 2, 3, 4) })).toBe('other key');
    expect(await verify(read(note), { ...key, name: 'timenav.example/main' })).toBe('other origin');
    expect(await readKey(vectors.key.verifier_key.replace('c3476d15', 'c3476d16'))).toBeNull();
    expect(await readKey('no key')).toBeNull();
  });

  it('says what is wrong with a note that is none', () => {
    const { note } = vectors.checkpoints.at(-1)!;
    expect(readNote(note.trimEnd())).toMatch(/incomplete/);
    expect(readNote(note.replaceAll('\n', '\r\n'))).toMatch(/line endings/);
    expect(readNote(note.replace('\n5\n', '\n05\n'))).toMatch(/origin, size and root/);
    expect(readNote('a\n1\nb\n')).toMatch(/empty line/);
    expect(readNote(note.replace('— ', '- '))).toMatch(/signature lines/);
  });
});

describe('files of a ledger', () => {
  it('are written as the format has them', () => {
    const { index, text } = vectors.tlog_proof;
    const proof = vectors.inclusion.find((each) => each.index === index && each.size === 5)!;
    const note = vectors.checkpoints.find((each) => each.size === 5)!.note;
    const file = proofFile(vectors.leaves[index]!.entry, index, proof.proof, note);
    expect(file.replace(/extra .*\n/, '')).toBe(text);
    expect(file).toContain(`extra ${btoa(vectors.leaves[index]!.entry)}\n`);
  });

  it('have entries in bundles', () => {
    expect(readBundle(Uint8Array.of(0, 2, 7, 8, 0, 0, 0, 1, 9))).toEqual([
      Uint8Array.of(7, 8),
      Uint8Array.of(),
      Uint8Array.of(9),
    ]);
    expect(readBundle(Uint8Array.of(0, 2, 7))).toBeNull();
    expect(readBundle(Uint8Array.of(0))).toBeNull();
    expect([
      bundlePath(0, 40),
      bundlePath(5, 256 * 6),
      bundlePath(1_234_067, 256 * 1_234_068),
      bundlePath(273, 70_000),
    ]).toEqual(['entries/000.p/40', 'entries/005', 'entries/x001/x234/067', 'entries/273.p/112']);
  });
});
