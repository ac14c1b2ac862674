import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { concat, fromHex, leafHash, sha256, toBase64, toHex, utf8, type Bytes } from '../../../lib/ledger/merkle';
import { readKey, readNote, readWitnessKeys, type Checkpoint, type VerifierKey } from '../../../lib/ledger/note';
import { verdictOf, type Check } from '../check';
import { STEPS, checkWitnessed, readWitnessed, type WitnessedBody } from './witnessed';

type Proof = WitnessedBody & { kind: string; head: NonNullable<WitnessedBody['head']> };

/** A recorded response of a service with a witness: `test-data/witnessed-proofs.json`, with test keys. */
const recorded = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../../../../test-data/witnessed-proofs.json'), 'utf8'),
) as { verifier_key: string; system_verifier_key: string; witness_key: string; entry: Proof; system: Proof };

const TIMELINE = 'apollo-11';
const [WITNESS] = (await readWitnessKeys(recorded.witness_key)) as [VerifierKey];
const POSITION = recorded.entry.position;
const note = (): Checkpoint => readNote(recorded.entry.checkpoint) as Checkpoint;

/** Returns a copy of the recorded proof with a change. */
function proof(change: (copy: Proof) => void = () => {}, of = recorded.entry): Proof {
  const copy = structuredClone(of);
  change(copy);
  return copy;
}

interface Expected {
  timeline?: string;
  position?: number;
  keyText?: string;
  witnesses?: readonly VerifierKey[];
}

function checked(response: unknown, expected: Expected = {}): Promise<Check[]> {
  const { timeline = TIMELINE, position = POSITION, keyText = recorded.verifier_key, witnesses = [WITNESS] } = expected;
  return checkWitnessed(response, { timeline, position, keyText }, witnesses);
}

/** Returns the failed steps, and those that could not be checked. */
async function faults(response: unknown, expected: Expected = {}): Promise<string[]> {
  const checks = await checked(response, expected);
  return checks
    .filter(({ state }) => state !== 'good')
    .map(({ what, state }) => (state === 'unknown' ? `${what}?` : what));
}

/** The check of the witness. */
const COSIGNED = `Witness ${WITNESS.name}`;
const { note: NOTE, heads: HEADS, tree: TREE, entry: ENTRY } = STEPS;

/** Creates a signing or cosigning key with a name. */
async function createWitness(
  name: string,
  kind: 1 | 4,
): Promise<VerifierKey & { text: string; sign: (text: string) => Promise<Bytes> }> {
  const { publicKey: open, privateKey } = await crypto.subtle.generateKey({ name: 'Ed25519' }, true, [
    'sign',
    'verify',
  ]);
  const publicKey = new Uint8Array(await crypto.subtle.exportKey('raw', open));
  const typed = concat(Uint8Array.of(kind), publicKey);
  const id = (await sha256(utf8(name), Uint8Array.of(0x0a), typed)).slice(0, 4);
  const sign = async (text: string): Promise<Bytes> =>
    new Uint8Array(await crypto.subtle.sign({ name: 'Ed25519' }, privateKey, utf8(text)));
  return { name, id, publicKey, text: `${name}+${toHex(id)}+${toBase64(typed)}`, sign };
}

type TestWitness = Awaited<ReturnType<typeof createWitness>>;
const lineOf = ({ name, id }: VerifierKey, signature: Bytes): string =>
  `— ${name} ${toBase64(concat(id, signature))}\n`;

async function cosignature(witness: TestWitness, text: string, seconds = 1_800_000_000): Promise<string> {
  const time = new Uint8Array(8);
  new DataView(time.buffer).setBigUint64(0, BigInt(seconds));
  return lineOf(witness, concat(time, await witness.sign(`cosignature/v1\ntime ${seconds}\n${text}`)));
}

/** Returns a timeline key with another public key, and a note signed with it for `system` of a service. */
async function resigned(origin: string, text = note().text): Promise<{ keyText: string; signed: string }> {
  const signer = await createWitness(origin, 1);
  const own = text.replace(/^[^\n]*/, origin);
  const key = await readKey(signer.text);
  const { name } = (await readKey(recorded.verifier_key))!;
  const typed = concat(Uint8Array.of(1), key!.publicKey);
  const id = (await sha256(utf8(name), Uint8Array.of(0x0a), typed)).slice(0, 4);
  return {
    keyText: `${name}+${toHex(id)}+${toBase64(typed)}`,
    signed: `${own}\n${lineOf(signer, await signer.sign(own))}`,
  };
}

afterEach(() => vi.restoreAllMocks());

describe('a witnessed proof', () => {
  it('is verified if everything matches, with a text for each step', async () => {
    const checks = await checked(proof());
    expect(verdictOf(checks)).toBe('good');
    expect(checks.map(({ what }) => what)).toEqual([NOTE, COSIGNED, HEADS, TREE, ENTRY]);
    const [signed, cosigned, heads, tree, entry] = checks.map(({ detail }) => detail);
    expect(signed).toBe(`timenav.local/system at ${note().size} entries is signed with the key of this timeline.`);
    expect(cosigned).toMatch(/^It cosigned this at 20\d\d-.*Z, by its own clock\.$/);
    const { position, count } = recorded.entry.head;
    expect(heads).toBe(`Entry ${position} is under that checkpoint, and commits to ${count} timelines.`);
    expect(tree).toBe(
      `One of these is timenav.local/${TIMELINE} at ${recorded.entry.size} entries, with the root of this proof.`,
    );
    expect(entry).toBe(`It is in that tree, and its text names entry ${POSITION}.`);
  });

  it('of system needs no heads entry', async () => {
    const expected = { timeline: 'system', position: recorded.system.position, keyText: recorded.system_verifier_key };
    expect(await faults(recorded.system, expected)).toEqual([]);
    expect((await checked(recorded.system, expected)).map(({ what }) => what)).toEqual([NOTE, COSIGNED, TREE, ENTRY]);
    // Only the note contains the size of the tree.
    const grown = proof((copy) => (copy.size += 1), recorded.system);
    expect(await faults(grown, expected)).toContain(TREE);
    const other = proof((copy) => (copy.root = recorded.entry.root), recorded.system);
    expect(await faults(other, expected)).toEqual([TREE, ENTRY]);
  });

  it('is parsed only if it is complete', async () => {
    expect(readWitnessed(recorded.entry)).not.toBeNull();
    for (const response of [
      null,
      'no',
      {},
      { ...recorded.entry, kind: 'inclusion' },
      { ...recorded.entry, hashes: [1] },
    ])
      expect(await faults(response)).toEqual(['The response']);
    expect(await faults({ ...recorded.entry, head: { index: 0 } })).toEqual(['The response']);
    expect(await faults(proof(), { keyText: 'nothing' })).toEqual(['The key']);
    expect(await faults(proof(), { timeline: 'main' })).toEqual(['The key']);
  });
});

describe('the note', () => {
  it('must be from the service that has the timeline’s key', async () => {
    const { keyText, signed } = await resigned('other.example/system');
    const tampered = proof((copy) => (copy.checkpoint = signed));
    const checks = await checked(tampered, { keyText, witnesses: [] });
    expect(checks[0]).toMatchObject({ what: NOTE, state: 'bad' });
    expect(checks[0]!.detail).toContain('It is a checkpoint of other.example/system, not of timenav.local/system');
    expect(verdictOf(checks.slice(1))).toBe('good');
    // The same name as the timeline's key, but another key.
    const own = await resigned('timenav.local/system');
    const resignedNote = proof((copy) => (copy.checkpoint = own.signed));
    expect(await faults(resignedNote, { keyText: own.keyText, witnesses: [] })).toEqual([]);
    expect(await faults(resignedNote, { witnesses: [] })).toEqual([NOTE]);
  });

  it('must match its signature', async () => {
    const grown = proof((copy) => (copy.checkpoint = copy.checkpoint.replace(/\n\d+\n/, `\n${note().size + 1}\n`)));
    const checks = await checked(grown);
    expect(checks.slice(0, 2).map(({ state }) => state)).toEqual(['bad', 'bad']);
    expect(checks[0]!.detail).toContain('the signature is invalid');
    expect(await faults(proof((copy) => (copy.checkpoint = 'nothing')))).toEqual([NOTE, `${HEADS}?`, `${TREE}?`]);
  });

  it('must be cosigned by each configured witness', async () => {
    const uncosigned = proof((copy) => (copy.checkpoint = copy.checkpoint.replace(/— witness.*\n/, '')));
    expect(await faults(uncosigned)).toEqual([COSIGNED]);
    expect((await checked(uncosigned))[1]!.detail).toBe('It has not cosigned this. No other witness has either.');
    const stranger = await createWitness('witness.example/w2', 4);
    expect(await faults(proof(), { witnesses: [WITNESS, stranger] })).toEqual(['Witness witness.example/w2']);
    const cosigned = await cosignature(stranger, note().text);
    const both = proof((copy) => (copy.checkpoint += cosigned));
    expect(await faults(both, { witnesses: [WITNESS, stranger] })).toEqual([]);
  });

  it('is not cosigned by a key of the same name or a signature of another text', async () => {
    const namesake = await createWitness(WITNESS.name, 4);
    const forged = await cosignature(namesake, note().text);
    const tampered = proof((copy) => (copy.checkpoint = copy.checkpoint.replace(/— witness.*\n/, forged)));
    expect(await faults(tampered)).toEqual([COSIGNED]);
    expect((await checked(tampered))[1]!.detail).toContain('with another key');
    // The line claims the right key.
    const renamedLine = forged.replace(/ \S+\n$/, (base64) => {
      const bytes = Uint8Array.from(atob(base64.trim()), (char) => char.charCodeAt(0));
      return ` ${toBase64(concat(WITNESS.id, bytes.slice(4)))}\n`;
    });
    const bolder = proof((copy) => (copy.checkpoint = copy.checkpoint.replace(/— witness.*\n/, renamedLine)));
    expect(await faults(bolder)).toEqual([COSIGNED]);
    expect((await checked(bolder))[1]!.detail).toContain('is invalid');
  });

  it('is reported as unverified in a browser without Ed25519', async () => {
    vi.spyOn(crypto.subtle, 'importKey').mockRejectedValue(new DOMException('unknown', 'NotSupportedError'));
    const checks = await checked(proof());
    expect(checks.map(({ state }) => state)).toEqual(['unknown', 'unknown', 'good', 'good', 'good']);
    expect(checks[0]!.detail).toContain('does not support Ed25519');
    expect(verdictOf(checks)).toBe('unknown');
  });
});

describe('the entry in system', () => {
  const leafWith = (from: string, to: string): Proof =>
    proof((copy) => {
      expect(copy.head.leaf).toContain(from);
      copy.head.leaf = copy.head.leaf.replace(from, to);
    });

  it('must be in the tree of the note, at its position', async () => {
    for (const tampered of [
      leafWith('"actor":"system"', '"actor":"admin"'),
      leafWith(`"subject":"${recorded.entry.head.count}:`, `"subject":"${recorded.entry.head.count + 1}:`),
      proof((copy) => (copy.head.position -= 1)),
      proof((copy) => (copy.head.position += 1)),
      proof((copy) => copy.head.system_hashes.pop()),
      proof((copy) => copy.head.system_hashes.reverse()),
      proof((copy) => (copy.head.system_hashes[0] = copy.head.system_hashes[0]!.slice(2))),
      proof((copy) => (copy.head.system_hashes[0] = 'zz')),
    ])
      expect(await faults(tampered)).toEqual([HEADS, `${TREE}?`]);
  });

  it('must commit to the number of timelines in the proof', async () => {
    const tampered = proof((copy) => (copy.head.count += 1));
    expect(await faults(tampered)).toEqual([HEADS, `${TREE}?`]);
    const { count } = recorded.entry.head;
    expect((await checked(tampered))[2]!.detail).toBe(
      `It commits to ${count} timelines, but the proof names ${count + 1}.`,
    );
  });

  it('must be present', async () => {
    const tampered: unknown = { ...recorded.entry, head: undefined };
    expect(await faults(tampered)).toEqual([HEADS, `${TREE}?`]);
  });

  it('must be a heads entry of the system, not another one in the tree', async () => {
    // A note over this one entry, signed by a dishonest service: the entry is in its tree.
    const { leaf } = recorded.entry.head;
    for (const [from, to] of [
      ['"action":"heads"', '"action":"reads"'],
      ['"actor":"system"', '"actor":"admin"'],
      ['"timeline_id":"system"', '"timeline_id":"main"'],
      ['{"action"', '{"action":"heads", "action"'],
    ] as const) {
      expect(leaf).toContain(from);
      const alone = leaf.replace(from, to).replace(/"seq":\d+/, '"seq":0');
      const root = toBase64(await leafHash(utf8(alone)));
      const { keyText, signed } = await resigned('timenav.local/system', `timenav.local/system\n1\n${root}\n`);
      const tampered = proof((copy) => {
        copy.checkpoint = signed;
        copy.head = { ...copy.head, leaf: alone, position: 0, system_hashes: [] };
      });
      expect(await faults(tampered, { keyText, witnesses: [] })).toEqual([HEADS, `${TREE}?`]);
    }
  });
});

describe('the tree of the timeline', () => {
  it('must be the one that system commits to', async () => {
    // Another ledger with one entry, which matches its own root.
    const leaf = recorded.entry.leaf.replace('"actor":"admin"', '"actor":"nimda"').replace(/"seq":\d+/, '"seq":0');
    const root = toHex(await leafHash(utf8(leaf)));
    const tampered = proof((copy) => Object.assign(copy, { leaf, root, size: 1, position: 0, hashes: [] }));
    expect(await faults(tampered, { position: 0 })).toEqual([TREE]);
    const same = proof((copy) => Object.assign(copy, { leaf, root, position: 0, hashes: [] }));
    expect(await faults(same, { position: 0 })).toEqual([TREE, ENTRY]);
  });

  it('must have its position and the name of the key', async () => {
    for (const tampered of [
      proof((copy) => (copy.head.index += 1)),
      proof((copy) => (copy.head.index = -1)),
      proof((copy) => copy.head.hashes.pop()),
      proof((copy) => copy.head.hashes.push(copy.root)),
    ])
      expect(await faults(tampered)).toEqual([TREE]);
    // The key of another timeline of the service, and an entry of a different timeline.
    const other = (await readKey(recorded.verifier_key))!;
    const typed = concat(Uint8Array.of(1), other.publicKey);
    const id = (await sha256(utf8('timenav.local/main'), Uint8Array.of(0x0a), typed)).slice(0, 4);
    const keyText = `timenav.local/main+${toHex(id)}+${toBase64(typed)}`;
    expect(await faults(proof(), { keyText, timeline: 'main' })).toEqual([TREE, ENTRY]);
  });

  it('must have a size and a root', async () => {
    expect(await faults(proof((copy) => (copy.root = copy.root.slice(2))))).toEqual([TREE, `${ENTRY}?`]);
    expect(await faults(proof((copy) => (copy.size = 0.5)))).toEqual([TREE, `${ENTRY}?`]);
    expect(await faults(proof((copy) => (copy.size += 1)))).toContain(TREE);
  });
});

describe('the entry', () => {
  it('must be in that tree', async () => {
    for (const tampered of [
      proof((copy) => (copy.leaf = copy.leaf.replace('"actor":"admin"', '"actor":"nimda"'))),
      proof((copy) => copy.hashes.pop()),
      proof((copy) => copy.hashes.reverse()),
      proof((copy) => (copy.hashes[0] = toHex(fromHex(copy.hashes[0]!)!.reverse()))),
    ]) {
      expect(tampered).not.toEqual(recorded.entry);
      expect(await faults(tampered)).toEqual([ENTRY]);
    }
  });

  it('must be the requested one', async () => {
    expect(await faults(proof(), { position: POSITION + 1 })).toEqual([ENTRY]);
    const moved = proof((copy) => (copy.position += 1));
    expect(await faults(moved)).toEqual([ENTRY]);
    expect(await faults(moved, { position: POSITION + 1 })).toEqual([ENTRY]);
  });
});
