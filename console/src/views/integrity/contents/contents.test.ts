/** Contents of entries, verified with the vectors of the ledger format. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fromHex, leafHash, sha256, toHex, utf8 } from '../../../lib/ledger/merkle';
import { readNote, type Checkpoint } from '../../../lib/ledger/note';
import { Contents, type EntryBody } from './contents';

const vectors = JSON.parse(
  readFileSync(new URL('../../../../../test-data/ledger-format-v1.json', import.meta.url), 'utf8'),
) as { leaves: { entry: string; salt: string; payload: string }[]; checkpoints: { size: number; note: string }[] };

const second = JSON.parse(
  readFileSync(new URL('../../../../../test-data/ledger-format-v2.json', import.meta.url), 'utf8'),
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

/** Returns the entries with one of them changed. */
function changed(position: number, change: Partial<EntryBody>): EntryBody[] {
  return ENTRIES.map((entry) => (entry.position === position ? { ...entry, ...change } : entry));
}

/** Returns an entry as the service formats it. */
async function entryOf(seq: number, action: string, content: object, more: object = {}): Promise<EntryBody> {
  const [salt, payload] = ['00'.repeat(16), JSON.stringify(content)];
  const leaf = {
    ...(JSON.parse(ENTRIES[0]!.leaf) as object),
    action,
    payload_hash: toHex(await sha256(fromHex(salt)!, utf8(payload))),
    seq,
    ...more,
  };
  return { position: seq, leaf: JSON.stringify(leaf), contents: 'shown', salt, payload };
}

/** Returns an entry that erases another one. */
const erasure = (seq: number, position: number): Promise<EntryBody> =>
  entryOf(seq, 'erase_data', { position, event_id: 'eagle' });

describe('entries', () => {
  it('lead to the signed root, with the number of matches', async () => {
    const contents = await taken(ENTRIES);
    expect(await contents.checkTree(CHECKPOINT)).toMatchObject({ state: 'good' });
    expect(states(contents)).toEqual(['Payloads good']);
    expect((await taken(ENTRIES.slice(0, 4))).size).toBe(4);
    expect(await (await taken(ENTRIES.slice(0, 4))).checkTree(CHECKPOINT)).toMatchObject({ state: 'bad' });
  });

  it('with another payload, salt or leaf are reported', async () => {
    const leaf = ENTRIES[2]!.leaf.replace('ada', 'bob');
    for (const change of [{ payload: '{}' }, { salt: '00'.repeat(16) }, { salt: '' }, { salt: 'zz' }]) {
      const contents = await taken(changed(2, change));
      expect(states(contents)).toEqual(['Payloads bad']);
      expect(contents.listed().map(({ position }) => position)).toEqual([2]);
    }
    const forged = await taken(changed(2, { leaf }));
    expect(await forged.checkTree(CHECKPOINT)).toMatchObject({ state: 'bad' });
    for (const other of [await taken(changed(2, { leaf: 'nothing' })), await taken([ENTRIES[1]!])])
      expect(other.listed()[0]?.detail).toContain('names another position');
    expect(states(await taken(ENTRIES, 'main'))).toEqual(['Payloads bad']);
  });

  it('may be missing only if a later entry erased them', async () => {
    // The vectors use other action names than the service.
    const leaf = ENTRIES[2]!.leaf.replace('record-event', 'record_event');
    const erased = { leaf, contents: 'erased', salt: null, payload: null };
    const contents = await taken(changed(2, erased));
    expect(contents.isUnexplained).toBe(true);
    expect(states(contents)).toEqual(['Payloads bad']);
    const named = await taken([...changed(2, erased), await erasure(5, 2)]);
    expect(named.isUnexplained).toBe(false);
    expect(states(named)).toEqual(['Payloads good', 'Erased unknown']);
    expect((await taken([...changed(2, erased), await erasure(5, 1)])).isUnexplained).toBe(true);
  });

  it('that do not concern events cannot be erased', async () => {
    const erased = { contents: 'erased', salt: null, payload: null };
    const others = ['set_access_control', 'adopt', 'travel', 'encrypt_data', 'read', 'unknown'];
    for (const action of ['record_event', 'correct_event', 'manipulate_event', ...others]) {
      const [base, at] = [{ asked_by: 'ada', interventions: [], versions: [[0, 0]] }, { v: 2 }];
      const erasures = [
        await entryOf(1, 'erase_events', base, at),
        await entryOf(1, 'erase_events', { ...base, versions: [], interventions: [[0, 0]] }, at),
        await erasure(1, 0),
        await entryOf(1, 'erase_data', { position: 0, data_id: 'data_1' }),
      ];
      for (const candidate of erasures) {
        const contents = await taken([{ ...(await entryOf(0, action, {}, at)), ...erased }]);
        await contents.take(candidate);
        expect(contents.isUnexplained, `${action} ${candidate.leaf}`).toBe(
          others.includes(action) || candidate === erasures[3],
        );
      }
    }
  });

  it('without access are counted by action', async () => {
    const contents = await taken(changed(3, { contents: 'restricted', salt: undefined, payload: undefined }));
    const [, hidden] = contents.checks();
    expect(hidden).toMatchObject({ what: 'No access', state: 'unknown' });
    expect(hidden!.detail).toMatch(/1 \S+\.$/);
    expect(toHex(await contents.root())).toBe(toHex(CHECKPOINT.root));
    expect(toHex(await (await taken([ENTRIES[0]!])).root())).toBe(toHex(await leafHash(utf8(ENTRIES[0]!.leaf))));
  });
});

const HOUR_S = 3_600;

/** A ledger of reads, refusals and changes, some of which a sweep prunes. */
interface Swept {
  /** Longer policies than that of the sweep. */
  policies?: [position: number, reads_seconds: number | null][];
  /** Overrides of the sweep's payload. */
  claims?: object;
  pruned?: number[];
  v?: number;
}

/** A policy, two reads, a refusal, an event and a read an hour later; then the sweep. */
async function swept({ policies = [], claims = {}, pruned = [1, 2], v = 2 }: Swept): Promise<Contents> {
  const at = (hour: number): object => ({ recorded_at: `2026-11-20T0${hour}:00:00Z`, v: 2 });
  const retention = (reads_seconds: number | null): object => ({ reads_seconds, refusals_seconds: null });
  const all = [
    await entryOf(0, 'set_retention', retention(HOUR_S), at(1)),
    await entryOf(1, 'read', {}, at(2)),
    await entryOf(2, 'read', { again: true }, at(2)),
    await entryOf(3, 'unauthorized_access_attempt', {}, at(2)),
    await entryOf(4, 'record_event', { event_id: 'eagle' }, at(2)),
    await entryOf(5, 'read', {}, at(4)),
  ];
  for (const [position, seconds] of policies)
    all[position] = await entryOf(position, 'set_retention', retention(seconds), at(1));
  const hashes = await Promise.all(pruned.map((position) => leafHash(utf8(all[position]!.leaf))));
  const own = {
    asked_by: 'system',
    class: 'reads',
    count: pruned.length,
    cutoff: '2026-11-20T03:00:00Z',
    leaf_hashes_sha256: toHex(await sha256(...hashes)),
    policy: 0,
    positions: pruned.map((position) => [position, position]),
  };
  all.push(await entryOf(6, 'sweep', { ...own, ...claims }, { ...at(5), v }));
  const missing = { contents: 'erased', salt: null, payload: null };
  return taken(all.map((entry) => (pruned.includes(entry.position) ? { ...entry, ...missing } : entry)));
}

describe('a sweep', () => {
  it('prunes reads past their retention, reported separately from erasures', async () => {
    const contents = await swept({});
    expect(contents.isUnexplained).toBe(false);
    expect(contents.checks().map(({ what, detail }) => `${what}: ${detail}`)).toEqual([
      'Payloads: 5 payloads match the signed hashes.',
      'Retention: 2 payloads pruned, as the retention of the timeline allows.',
    ]);
  });

  it('cannot prune other entries', async () => {
    const cases: [Swept, string][] = [
      [{ pruned: [1, 4] }, 'It lists entry 4, which belongs to another class.'],
      [{ pruned: [1, 3] }, 'It lists entry 3, which belongs to another class.'],
      [{ pruned: [5] }, 'It lists entry 5, which was not recorded before its cutoff.'],
      [{ claims: { class: 'refusals' } }, 'No earlier policy allows this pruning.'],
      [{ claims: { class: 'changes' } }, 'No earlier policy allows this pruning.'],
      [{ claims: { policy: 1 } }, 'No earlier policy allows this pruning.'],
      [{ claims: { cutoff: '2026-11-20T04:00:00.000001Z' } }, 'Its cutoff is later than its policy allows.'],
      [{ claims: { positions: [[1, 6]] } }, 'It lists later entries.'],
      [
        { claims: { leaf_hashes_sha256: '00'.repeat(32) } },
        'The leaf hashes at its positions do not match those it lists.',
      ],
      [{ policies: [[3, null]] }, 'It lists entry 1, which another policy keeps longer.'],
      [{ policies: [[3, HOUR_S + 1]] }, 'It lists entry 1, which another policy keeps longer.'],
      [{ claims: { positions: 'all' } }, 'Its payload is not valid for its action.'],
      [{ claims: { positions: [[-1, 2]] } }, 'Its payload is not valid for its action.'],
      [{ claims: { cutoff: 'now' } }, 'Its payload is not valid for its action.'],
    ];
    for (const [change, detail] of cases) {
      const contents = await swept(change);
      expect(contents.isUnexplained, detail).toBe(true);
      expect(states(contents), detail).toEqual(['Payloads bad']);
      expect(
        contents.listed().map((difference) => difference.detail),
        detail,
      ).toContain(detail);
    }
  });

  it('prunes nothing before the first policy or in version 1', async () => {
    expect((await swept({ v: 1 })).isUnexplained).toBe(true);
    const late = await swept({
      pruned: [1],
      policies: [
        [0, null],
        [3, HOUR_S],
      ],
      claims: { policy: 3 },
    });
    expect(late.listed()).toEqual([{ position: 6, detail: 'It lists entry 1, which another policy keeps longer.' }]);
  });

  it('may prune entries that other policies keep equally long', async () => {
    expect((await swept({ policies: [[3, HOUR_S - 1]] })).isUnexplained).toBe(false);
  });

  it('that lists existing payloads is accepted, because deletion may be in progress', async () => {
    const contents = await swept({ claims: { positions: [[1, 3]], count: 3 } });
    expect(states(contents)).toEqual(['Payloads good', 'Retention unknown']);
  });
});

/** Returns an entry of reads that is the first of a ledger. */
function ofReads(salt: string, payload: string): EntryBody {
  const leaf = { action: 'reads', payload_hash: second.reads.payload_hash, seq: 0, timeline_id: 'apollo-11', v: 2 };
  return { position: 0, leaf: JSON.stringify(leaf), contents: 'shown', salt, payload };
}

/** Returns an entry that erases reads of the first one. */
async function readsErased(reads: [number, number][]): Promise<EntryBody> {
  const [salt, payload] = ['00'.repeat(16), JSON.stringify({ asked_by: 'ada', position: 0, reads })];
  const hash = toHex(await sha256(fromHex(salt)!, utf8(payload)));
  const leaf = { action: 'erase_reads', payload_hash: hash, seq: 1, timeline_id: 'apollo-11', v: 2 };
  return { position: 1, leaf: JSON.stringify(leaf), contents: 'shown', salt, payload };
}

describe('reads', () => {
  const { salt, payload, without_read_1: opened } = second.reads;

  it('are compared individually', async () => {
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

  it('may be erased by a later entry', async () => {
    const unexplained = await taken([ofReads('', opened)]);
    expect(unexplained.isUnexplained).toBe(true);
    expect(states(unexplained)).toEqual(['Payloads bad']);
    const named = await taken([ofReads('', opened), await readsErased([[0, 1]])]);
    expect([named.isUnexplained, states(named)]).toEqual([false, ['Payloads good']]);
    const other = await taken([ofReads('', opened), await readsErased([[2, 2]])]);
    expect(states(other)).toEqual(['Payloads bad']);
  });
});
