/** Contents of entries, compared with the vectors of the format. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fromHex, leafHash, sha256, toHex, utf8 } from '../../lib/merkle';
import { readNote, type Checkpoint } from '../../lib/note';
import { Contents, type EntryBody } from './contents';

const vectors = JSON.parse(
  readFileSync(new URL('../../../../test-data/ledger-format-v1.json', import.meta.url), 'utf8'),
) as { leaves: { entry: string; salt: string; payload: string }[]; checkpoints: { size: number; note: string }[] };

const second = JSON.parse(
  readFileSync(new URL('../../../../test-data/ledger-format-v2.json', import.meta.url), 'utf8'),
) as { reads: { salt: string; payload: string; payload_hash: string; without_read_1: string } };

const CHECKPOINT = readNote(vectors.checkpoints.find(({ size }) => size === 5)!.note) as Checkpoint;
const ENTRIES: EntryBody[] = vectors.leaves.slice(0, 5).map(({ entry, salt, payload }, position) => ({
  position,
  leaf: entry,
  contents: 'shown',
  salt,
  payload,
}));

async function taken(entries: EntryBody[], timeline = 'apollo-11'): Promise<Contents> {
  const contents = new Contents(timeline);
  for (const entry of entries) await contents.take(entry);
  return contents;
}

const states = (contents: Contents): string[] => contents.checks().map(({ what, state }) => `${what} ${state}`);

/** The entries with one of them changed. */
function changed(position: number, change: Partial<EntryBody>): EntryBody[] {
  return ENTRIES.map((entry) => (entry.position === position ? { ...entry, ...change } : entry));
}

/** An entry that erases another, as the service writes it. */
async function erasure(seq: number, position: number): Promise<EntryBody> {
  const [salt, payload] = ['00'.repeat(16), JSON.stringify({ position, event_id: 'eagle' })];
  const leaf = {
    ...(JSON.parse(ENTRIES[0]!.leaf) as object),
    action: 'erase_data',
    payload_hash: toHex(await sha256(fromHex(salt)!, utf8(payload))),
    seq,
  };
  return { position: seq, leaf: JSON.stringify(leaf), contents: 'shown', salt, payload };
}

describe('entries', () => {
  it('lead to the signed root, and say what was signed', async () => {
    const contents = await taken(ENTRIES);
    expect(await contents.checkTree(CHECKPOINT)).toMatchObject({ state: 'good' });
    expect(states(contents)).toEqual(['Payloads good']);
    expect((await taken(ENTRIES.slice(0, 4))).size).toBe(4);
    expect(await (await taken(ENTRIES.slice(0, 4))).checkTree(CHECKPOINT)).toMatchObject({ state: 'bad' });
  });

  it('of which a payload, a salt or the leaf is another are told', async () => {
    const leaf = ENTRIES[2]!.leaf.replace('ada', 'bob');
    for (const change of [{ payload: '{}' }, { salt: '00'.repeat(16) }, { salt: '' }, { salt: 'zz' }]) {
      const contents = await taken(changed(2, change));
      expect(states(contents)).toEqual(['Payloads bad']);
      expect(contents.shown().map(({ position }) => position)).toEqual([2]);
    }
    const forged = await taken(changed(2, { leaf }));
    expect(await forged.checkTree(CHECKPOINT)).toMatchObject({ state: 'bad' });
    for (const other of [await taken(changed(2, { leaf: 'nothing' })), await taken([ENTRIES[1]!])])
      expect(other.shown()[0]?.told).toContain('is at another position');
    expect(states(await taken(ENTRIES, 'main'))).toEqual(['Payloads bad']);
  });

  it('are missing only where a later one says that they were erased', async () => {
    const gone = { contents: 'erased', salt: undefined, payload: undefined } as unknown as Partial<EntryBody>;
    const contents = await taken(changed(2, gone));
    expect(contents.isUnexplained).toBe(true);
    expect(states(contents)).toEqual(['Payloads bad']);
    const named = await taken([...changed(2, gone), await erasure(5, 2)]);
    expect(named.isUnexplained).toBe(false);
    expect(states(named)).toEqual(['Payloads good', 'Erased unknown']);
    expect((await taken([...changed(2, gone), await erasure(5, 1)])).isUnexplained).toBe(true);
  });

  it('that are not for this reader are counted by what was done', async () => {
    const contents = await taken(changed(3, { contents: 'admins_only', salt: undefined, payload: undefined }));
    const [, hidden] = contents.checks();
    expect(hidden).toMatchObject({ what: 'No access', state: 'unknown' });
    expect(hidden!.told).toMatch(/1 \S+\.$/);
    expect(toHex(await contents.root())).toBe(toHex(CHECKPOINT.root));
    expect(toHex(await (await taken([ENTRIES[0]!])).root())).toBe(toHex(await leafHash(utf8(ENTRIES[0]!.leaf))));
  });
});

/** An entry of reads as the first of a ledger. */
function ofReads(salt: string, payload: string): EntryBody {
  const leaf = { action: 'reads', payload_hash: second.reads.payload_hash, seq: 0, timeline_id: 'apollo-11', v: 2 };
  return { position: 0, leaf: JSON.stringify(leaf), contents: 'shown', salt, payload };
}

/** An entry that says that reads of the first one were erased. */
async function readsErased(reads: [number, number][]): Promise<EntryBody> {
  const [salt, payload] = ['00'.repeat(16), JSON.stringify({ asked_by: 'ada', position: 0, reads })];
  const hash = toHex(await sha256(fromHex(salt)!, utf8(payload)));
  const leaf = { action: 'erase_reads', payload_hash: hash, seq: 1, timeline_id: 'apollo-11', v: 2 };
  return { position: 1, leaf: JSON.stringify(leaf), contents: 'shown', salt, payload };
}

describe('reads', () => {
  const { salt, payload, without_read_1: opened } = second.reads;

  it('are compared one by one', async () => {
    expect(states(await taken([ofReads(salt, payload)]))).toEqual(['Payloads good']);
    const others: [string, string][] = [
      [salt, payload.replace('ada', 'bob')],
      ['00'.repeat(16), payload],
      [salt, payload.replace(',"user"', ', "user"')],
      [salt, '[]'],
      [salt, '{}'],
      ['', payload],
      ['zz', payload],
    ];
    for (const [otherSalt, other] of others)
      expect(states(await taken([ofReads(otherSalt, other)]))).toEqual(['Payloads bad']);
  });

  it('that were erased are named by an entry', async () => {
    const gone = await taken([ofReads('', opened)]);
    expect(gone.isUnexplained).toBe(true);
    expect(states(gone)).toEqual(['Payloads bad']);
    const named = await taken([ofReads('', opened), await readsErased([[0, 1]])]);
    expect([named.isUnexplained, states(named)]).toEqual([false, ['Payloads good']]);
    const other = await taken([ofReads('', opened), await readsErased([[2, 2]])]);
    expect(states(other)).toEqual(['Payloads bad']);
  });
});
