import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readHead, type HeadStatement } from '../../../lib/ledger/head';
import { fromHex, toHex, type Bytes } from '../../../lib/ledger/merkle';
import { checkHead, checkTree, type TreeProof, type Tree } from './head';

const read = (name: string): unknown =>
  JSON.parse(readFileSync(resolve(import.meta.dirname, '../../../../../test-data', name), 'utf8'));
const v1 = read('ledger-format-v1.json') as {
  consistency: { old: number; new: number; proof: string[] }[];
  key: { verifier_key: string };
  checkpoints: { size: number; root: string }[];
};
const { heads } = read('ledger-format-v2.json') as {
  heads: {
    size: number;
    root: string;
    state_hash: string;
    index_root: string | null;
    text: string;
    handed_around: string;
  }[];
};
const KEY = v1.key.verifier_key;
const signed = heads[1]!.handed_around;
const changed = (from: string, to: string): string => {
  expect(signed).toContain(from);
  return signed.replace(from, to);
};

describe('a head statement', () => {
  it('is parsed from its text', () => {
    for (const vector of heads) {
      const head = readHead(vector.handed_around) as HeadStatement;
      expect(head).toMatchObject({ origin: 'timenav.example/apollo-11', size: vector.size, text: vector.text });
      expect(toHex(head.root)).toBe(vector.root);
      expect(toHex(head.stateHash)).toBe(vector.state_hash);
      expect(head.indexRoot && toHex(head.indexRoot)).toBe(vector.index_root);
    }
  });

  it('is rejected with a reason if its form is invalid', () => {
    const line = signed.split('\n\n')[1]!;
    const wrong: [string, string][] = [
      ['nothing', 'Its text must be followed by an empty line and a signature of 64 bytes in base64.'],
      [signed.trimEnd(), 'Its text must be followed by an empty line and a signature of 64 bytes in base64.'],
      [changed(line, 'AAAA\n'), 'Its text must be followed by an empty line and a signature of 64 bytes in base64.'],
      [changed('timenav-head/v1', 'timenav-head/v2'), 'It must have six lines and start with timenav-head/v1.'],
      [changed('\n-\n', '\n-\n-\n'), 'It must have six lines and start with timenav-head/v1.'],
      [changed('timenav.example/apollo-11', ''), 'The name of its ledger is missing.'],
      [changed('\n4\n', '\n04\n'), 'Its size must be a decimal number without leading zeros.'],
      [changed('\n4\n', '\n9007199254740992\n'), 'Its size is larger than a ledger can be.'],
      [changed('\n-\n', '\nnone\n'), 'Each of its hashes must be 32 bytes in base64, or - for a missing index.'],
      [changed('ER2w', '-'), 'Each of its hashes must be 32 bytes in base64, or - for a missing index.'],
    ];
    for (const [text, problem] of wrong) expect(readHead(text)).toBe(problem);
  });

  it('has the ledger’s name and a valid signature', async () => {
    for (const { handed_around, size } of heads) {
      const { checks } = await checkHead(handed_around, KEY, 'apollo-11');
      expect(checks).toEqual([
        {
          what: 'Origin',
          detail: `It is for the timeline apollo-11, at ${size} entries.`,
          state: 'good',
        },
        { what: 'Signature', detail: 'It is signed by timenav.example/apollo-11.', state: 'good' },
      ]);
    }
  });

  it('is rejected if any part was changed', async () => {
    const states = async (text: string, timeline = 'apollo-11', key = KEY): Promise<string[]> =>
      (await checkHead(text, key, timeline)).checks.map(({ what, state }) => `${what}: ${state}`);
    // Each signed line.
    for (const [from, to] of [
      ['\n4\n', '\n5\n'],
      ['ER2w', 'ER2x'],
      ['W28p', 'W28q'],
    ] as const)
      expect(await states(changed(from, to))).toEqual(['Origin: good', 'Signature: bad']);
    expect(await states(changed('apollo-11', 'apollo-12'))).toEqual(['Origin: bad', 'Signature: bad']);
    expect(await states(signed, 'main')).toEqual(['Origin: bad', 'Signature: good']);
    expect(await states(changed('9N0J', '9N0K'))).toEqual(['Origin: good', 'Signature: bad']);
    expect(await states('nothing')).toEqual(['The statement: bad']);
    expect(await states(signed, 'apollo-11', 'nothing')).toEqual(['The key: bad']);
  });
});

describe('head and checkpoint', () => {
  const tree = (size: number): Tree => ({
    size,
    root: fromHex(v1.checkpoints.find((each) => each.size === size)!.root)!,
  });
  const to5 = (from: number): TreeProof => {
    const { proof } = v1.consistency.find((each) => each.old === from && each.new === 5)!;
    return { proof: proof.map((hash) => fromHex(hash)!), left: null };
  };
  const NONE: TreeProof = { proof: [], left: null };

  it('belong to one history', async () => {
    expect(await checkTree(tree(5), tree(5), NONE)).toMatchObject({ state: 'good' });
    expect(await checkTree(tree(5), tree(3), to5(3))).toMatchObject({
      state: 'good',
      detail: 'It continues the checkpoint by 2 entries.',
    });
    expect(await checkTree(tree(3), tree(5), to5(3))).toMatchObject({
      state: 'good',
      detail: 'The checkpoint continues it by 2 entries.',
    });
  });

  it('are reported if they do not', async () => {
    const resultOf = async (head: Tree, checkpoint: Tree, treeProof: TreeProof): Promise<string> => {
      const check = await checkTree(head, checkpoint, treeProof);
      return `${check.state}: ${check.detail}`;
    };
    const forged = { size: 3, root: tree(5).root };
    expect(await resultOf({ size: 5, root: tree(3).root }, tree(5), NONE)).toMatch(
      /^bad: It has the size .* another root/,
    );
    expect(await resultOf(tree(5), forged, to5(3))).toMatch(/^bad: Head and checkpoint belong to different histories/);
    expect(await resultOf(forged, tree(5), to5(3))).toMatch(/^bad: Head and checkpoint belong to different histories/);
    const [first, ...others] = to5(3).proof as [Bytes, ...Bytes[]];
    for (const proof of [[], others, [tree(3).root, ...others], [first, ...others, first]])
      expect(await resultOf(tree(5), tree(3), { proof, left: null })).toMatch(/^bad: Head and/);
    expect(await resultOf(tree(5), tree(3), { proof: [], left: 4 })).toBe(
      'bad: The ledger has 4 entries, but 5 entries were signed: it was rolled back.',
    );
  });
});
