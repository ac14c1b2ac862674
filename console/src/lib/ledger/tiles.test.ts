import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { emptyRoot, fromHex, isConsistent, leafHash, nodeHash, split, toHex, utf8, type Bytes } from './merkle';
import { consistencyProof, tileName } from './tiles';

const { consistency, leaves: entries } = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../../../test-data/ledger-format-v1.json'), 'utf8'),
) as { consistency: { old: number; new: number; proof: string[] }[]; leaves: { leaf_hash: string }[] };

/** Hashes of `count` entries. */
const leaves = (count: number): Promise<Bytes[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => leafHash(utf8(`entry ${index}`))));

/** Root over leaves, as defined in §3. */
async function root(hashes: readonly Bytes[]): Promise<Bytes> {
  if (hashes.length === 0) return emptyRoot();
  if (hashes.length === 1) return hashes[0]!;
  const middle = split(hashes.length);
  return nodeHash(await root(hashes.slice(0, middle)), await root(hashes.slice(middle)));
}

/** Serves tiles of a tree and records their names. */
function serving(hashes: readonly Bytes[], requests: string[] = []): (name: string) => Promise<Uint8Array> {
  return async (name) => {
    requests.push(name);
    const [, level = '', path = '', width = '256'] = /^(\d+)\/([x\d/]+?)(?:\.p\/(\d+))?$/.exec(name) ?? [];
    const each = 256 ** Number(level);
    const first = Number(path.replace(/[x/]/g, '')) * 256;
    const own = Array.from({ length: Number(width) }, (_, index) =>
      root(hashes.slice((first + index) * each, (first + index + 1) * each)),
    );
    return Uint8Array.from((await Promise.all(own)).flatMap((hash) => [...hash]));
  };
}

describe('tile', () => {
  it('has the name that the format defines', () => {
    expect(tileName(0, 5 * 256, 70_000)).toBe('0/005');
    expect(tileName(0, 69_999, 70_000)).toBe('0/273.p/112');
    expect(tileName(1, 16, 70_000)).toBe('1/000');
    expect(tileName(1, 270, 70_000)).toBe('1/001.p/17');
    expect(tileName(2, 0, 70_000)).toBe('2/000.p/1');
    expect(tileName(0, 1_234_067 * 256, 2 ** 32)).toBe('0/x001/x234/067');
  });
});

describe('proof from tiles', () => {
  it('equals the proof of the service', async () => {
    const hashes = entries.map(({ leaf_hash }) => fromHex(leaf_hash)!);
    for (const vector of consistency) {
      const proof = await consistencyProof(vector.old, vector.new, serving(hashes));
      expect(proof.map(toHex), `${vector.old} to ${vector.new}`).toEqual(vector.proof);
    }
  });

  it('connects any two sizes', async () => {
    const hashes = await leaves(40);
    for (let size = 1; size <= hashes.length; size += 1)
      for (let old = 0; old <= size; old += 1) {
        const proof = await consistencyProof(old, size, serving(hashes));
        const [before, after] = [await root(hashes.slice(0, old)), await root(hashes.slice(0, size))];
        expect(await isConsistent(old, before, size, after, proof), `${old} to ${size}`).toBe(true);
      }
  });

  it('needs few tiles, on several levels of a large tree', async () => {
    const hashes = await leaves(1_500);
    for (const [old, size] of [
      [1_499, 1_500],
      [1_024, 1_025],
      [511, 1_300],
      [1, 1_500],
    ] as const) {
      const requests: string[] = [];
      const proof = await consistencyProof(old, size, serving(hashes, requests));
      const [before, after] = [await root(hashes.slice(0, old)), await root(hashes.slice(0, size))];
      expect(await isConsistent(old, before, size, after, proof), `${old} to ${size}`).toBe(true);
      expect(requests.length).toBeLessThan(5);
      expect(new Set(requests).size).toBe(requests.length);
    }
  });

  it('is invalid if one of its hashes is changed', async () => {
    const hashes = await leaves(300);
    const [before, after] = [await root(hashes.slice(0, 290)), await root(hashes)];
    const forged = await consistencyProof(290, 300, serving([...hashes.slice(0, 100), ...hashes.slice(0, 200)]));
    expect(await isConsistent(290, before, 300, after, forged)).toBe(false);
  });
});
