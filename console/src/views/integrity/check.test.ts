import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { concat, sha256, toBase64, toHex, utf8 } from '../../lib/ledger/merkle';
import { readNote, readWitnessKeys, type Checkpoint, type VerifierKey } from '../../lib/ledger/note';
import { checkCheckpoint, checkContinuation, checkCosigned, checkInclusion, verdictOf, type ProofBody } from './check';
import { bytesText } from '../../lib/page/files';
import { pageOf } from './ledger/ledger';

interface Vectors {
  leaves: { entry: string }[];
  inclusion: { index: number; size: number; proof: string[] }[];
  consistency: { old: number; new: number; proof: string[] }[];
  key: { verifier_key: string };
  checkpoints: { size: number; root: string; note: string }[];
}
const vectors = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../../../test-data/ledger-format-v1.json'), 'utf8'),
) as Vectors;
const noteAt = (size: number): string => vectors.checkpoints.find((each) => each.size === size)!.note;
const at = (size: number): Checkpoint => readNote(noteAt(size)) as Checkpoint;

function proofOf(index: number): ProofBody {
  const { proof } = vectors.inclusion.find((each) => each.index === index && each.size === 5)!;
  return {
    status: '',
    kind: 'inclusion',
    position: index,
    leaf: vectors.leaves[index]!.entry,
    hashes: proof,
    size: 5,
    root: '',
    checkpoint: noteAt(5),
    verifier_key: vectors.key.verifier_key,
  };
}
const states = (checks: { state: string }[]): string[] => checks.map((check) => check.state);

describe('an entry', () => {
  it('is verified if everything matches', async () => {
    const { checks, steps } = await checkInclusion(proofOf(2), 'apollo-11', 2);
    expect(states(checks)).toEqual(['good', 'good', 'good', 'good']);
    expect(verdictOf(checks)).toBe('good');
    expect(steps).toHaveLength(3);
  });

  it('is not verified if one letter was changed', async () => {
    const body = proofOf(2);
    const { checks } = await checkInclusion(
      { ...body, leaf: body.leaf!.replace('user:ada', 'user:bob') },
      'apollo-11',
      2,
    );
    expect(checks[1]).toMatchObject({ state: 'bad', detail: expect.stringContaining('different root') as string });
    expect(verdictOf(checks)).toBe('bad');
  });

  it('is not verified with the proof of another entry', async () => {
    expect(states((await checkInclusion(proofOf(2), 'apollo-11', 3)).checks)).toEqual(['bad', 'bad', 'good', 'good']);
    expect(states((await checkInclusion(proofOf(2), 'main', 2)).checks)).toEqual(['bad', 'good', 'bad', 'good']);
    expect((await checkInclusion({ ...proofOf(2), hashes: ['zz'] }, 'apollo-11', 2)).checks[1]!.state).toBe('bad');
    expect((await checkInclusion({ ...proofOf(2), leaf: 'nothing' }, 'apollo-11', 2)).checks[0]!.state).toBe('bad');
  });
});

describe('a checkpoint', () => {
  it('shows its timeline and signature', async () => {
    const { checks } = await checkCheckpoint(noteAt(5), vectors.key.verifier_key, 'apollo-11');
    expect(checks[0]!.detail).toBe('It is for the timeline apollo-11, at 5 entries.');
    expect(
      states(
        (await checkCheckpoint(noteAt(5).replace('\n5\n', '\n4\n'), vectors.key.verifier_key, 'apollo-11')).checks,
      ),
    ).toEqual(['good', 'bad']);
    expect(states((await checkCheckpoint('nothing', vectors.key.verifier_key, 'apollo-11')).checks)).toEqual(['bad']);
    expect(states((await checkCheckpoint(noteAt(5), 'nothing', 'apollo-11')).checks)).toEqual(['bad']);
  });

  it('may be signed by a retired key', async () => {
    const keys = await crypto.subtle.generateKey({ name: 'Ed25519' }, true, ['sign', 'verify']);
    const typed = concat(Uint8Array.of(1), new Uint8Array(await crypto.subtle.exportKey('raw', keys.publicKey)));
    const name = at(5).origin;
    const id = (await sha256(utf8(name), Uint8Array.of(0x0a), typed)).slice(0, 4);
    const newer = `${name}+${toHex(id)}+${toBase64(typed)}`;
    const verify = async (note: string, key: string, retired = ''): Promise<unknown> =>
      (await checkCheckpoint(note, key, 'apollo-11', retired)).checks.at(-1);
    expect(await verify(noteAt(5), newer)).toMatchObject({
      state: 'bad',
      detail: expect.stringContaining('enter the retired one too') as string,
    });
    expect(await verify(noteAt(5), newer, vectors.key.verifier_key)).toMatchObject({
      state: 'good',
      detail: `It is signed by ${name}, with the retired key.`,
    });
    expect(await verify(noteAt(5), vectors.key.verifier_key, newer)).toMatchObject({
      state: 'good',
      detail: `It is signed by ${name}.`,
    });
    expect(await verify(noteAt(5), newer, 'nothing')).toMatchObject({
      state: 'bad',
      detail: 'The retired key is invalid: its parts do not match.',
    });
    const signature = new Uint8Array(await crypto.subtle.sign({ name: 'Ed25519' }, keys.privateKey, utf8(at(5).text)));
    const both = `${noteAt(5)}— ${name} ${toBase64(concat(id, signature))}\n`;
    expect(await verify(both, newer)).toMatchObject({ state: 'good' });
    // A valid signature of one key does not make up for an invalid one of another known key.
    signature[0]! ^= 1;
    const wrong = `${noteAt(5)}— ${name} ${toBase64(concat(id, signature))}\n`;
    expect(await verify(wrong, vectors.key.verifier_key)).toMatchObject({ state: 'good' });
    expect(await verify(wrong, vectors.key.verifier_key, newer)).toMatchObject({
      state: 'bad',
      detail: expect.stringContaining('signature is invalid') as string,
    });
  });

  it('that was saved is continued, or is evidence', async () => {
    const { proof } = vectors.consistency.find((each) => each.old === 3 && each.new === 5)!;
    expect(await checkContinuation(at(3), at(5), proof)).toMatchObject({
      state: 'good',
      detail: 'All 3 entries are unchanged; 2 entries were added.',
    });
    expect(await checkContinuation(at(5), at(5), [])).toMatchObject({ state: 'good' });
    expect(await checkContinuation(at(5), at(3), [])).toMatchObject({
      state: 'bad',
      detail: expect.stringContaining('rolled back') as string,
    });
    expect(await checkContinuation({ ...at(3), root: at(5).root }, at(5), proof)).toMatchObject({
      state: 'bad',
      detail: expect.stringContaining('does not continue') as string,
    });
    expect(await checkContinuation({ ...at(5), root: at(3).root }, at(5), [])).toMatchObject({
      state: 'bad',
      detail: expect.stringContaining('different roots') as string,
    });
  });
});

describe('a witness', () => {
  // As in note.test.ts.
  const key = 'witness.example/w1+aa4a09d1+BOpKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs';
  const line =
    'qkoJ0QAAAABkGFDLidJzIo+es0hpJ/NUV6bfCYPinYL0jBmN2/YnRe9P9QEW/FSK7aInBu9K12GjjfSKqr2SHH+a1PE8K+mfJuwVAQ==';
  const text = 'log.example/system\n20\nPAb5plclr2BSYfY2ZyyWINQJcx2JpFHXRV/pxK4WeCk=\n';
  const cosigned = readNote(`${text}\n— witness.example/w1 ${line}\n`) as Checkpoint;

  it('vouches only for what it has cosigned', async () => {
    const witnesses = (await readWitnessKeys(key)) as VerifierKey[];
    expect(await checkCosigned(cosigned, witnesses)).toEqual([
      {
        what: 'Witness witness.example/w1',
        detail: 'It cosigned this at 2023-03-20T12:25:47Z, by its own clock.',
        state: 'good',
      },
    ]);
    const [witness] = witnesses;
    const checked = async (checkpoint: Checkpoint, of = witness!): Promise<{ state: string; detail: string }> =>
      (await checkCosigned(checkpoint, [of]))[0]!;
    expect((await checked({ ...cosigned, text: cosigned.text.replace('20', '21') })).detail).toContain('invalid');
    expect((await checked(at(5))).detail).toContain('witnesses cosign the checkpoints of system');
    expect((await checked(cosigned, { ...witness!, name: 'w2' })).detail).toContain(
      'has cosignatures of witness.example/w1',
    );
    const other = { ...witness!, id: Uint8Array.of(1, 2, 3, 4) };
    expect((await checked(cosigned, other)).detail).toContain('with another key');
    const both = await checkCosigned(cosigned, [witness!, other]);
    expect(both.map(({ what, state }) => [what.replace(/.*, /, ''), state])).toEqual([
      ['key aa4a09d1', 'good'],
      ['key 01020304', 'bad'],
    ]);
  });
});

describe('ledger pages', () => {
  it('go from the newest entries back to the first', () => {
    expect(pageOf(564, null)).toEqual({ first: 544, end: 564, bundles: [2] });
    expect(pageOf(564, 520)).toEqual({ first: 500, end: 520, bundles: [1, 2] });
    expect(pageOf(564, 7)).toEqual({ first: 0, end: 7, bundles: [0] });
    expect(pageOf(564, 9_999)).toEqual({ first: 544, end: 564, bundles: [2] });
    expect(pageOf(0, null)).toEqual({ first: 0, end: 0, bundles: [] });
  });

  it('have short texts', () => {
    expect([bytesText(0), bytesText(812), bytesText(382_461), bytesText(12_345_678)]).toEqual([
      '0 bytes',
      '812 bytes',
      '382 kB',
      '12.3 MB',
    ]);
  });
});
