import { afterEach, describe, expect, it, vi } from 'vitest';
import { service } from '../../../lib/service/api';
import { parse } from '../../../lib/time/instant';
import { entriesFor, foldedCount, readChanges, readPage, recordedSince, type Entry } from './ledger';

/** Serves a ledger of `size` entries. Those at `changes` are changes, and the others are reads. */
function serve(size: number, changes: readonly number[]): void {
  vi.spyOn(service, 'tile').mockImplementation(({ tile }) => {
    const numbers = tile.replace(/^entries\//, '').replace(/\.p\/\d+$/, '');
    const bundle = Number(numbers.replace(/\D/g, ''));
    const entries = Array.from({ length: Math.min(256, size - bundle * 256) }, (_, index) => {
      const seq = bundle * 256 + index;
      const entry = new TextEncoder().encode(
        JSON.stringify({ seq, action: changes.includes(seq) ? 'record_event' : 'reads' }),
      );
      return [entry.length >> 8, entry.length & 255, ...entry];
    });
    return Promise.resolve(new Uint8Array(entries.flat()).buffer as never);
  });
}

afterEach(() => vi.restoreAllMocks());
const signal = new AbortController().signal;
const seqs = ({ entries }: { entries: { seq: number }[] }): number[] => entries.map(({ seq }) => seq);

it('a page has as many entries as fill the screen', () => {
  expect([600, 900, 1_440].map(entriesFor)).toEqual([20, 20, 30]);
});

describe('changes of a ledger', () => {
  it('are read from the newest back and forth again, skipping reads', async () => {
    const changes = Array.from({ length: 50 }, (_, index) => index * 40);
    serve(2_000, changes);
    expect(seqs(await readPage('t', 2_000, null, signal))).toHaveLength(20);
    const newest = await readChanges('t', 2_000, null, signal);
    expect(seqs(newest)).toEqual(changes.slice(30).reverse());
    expect(newest).toMatchObject({ first: 1_200, end: 2_000, newer: null });
    const older = await readChanges('t', 2_000, newest.first, signal);
    expect(seqs(older)).toEqual(changes.slice(10, 30).reverse());
    expect(older).toMatchObject({ first: 400, newer: 1_961 });
    const oldest = await readChanges('t', 2_000, older.first, signal);
    expect(seqs(oldest)).toEqual(changes.slice(0, 10).reverse());
    expect(oldest).toMatchObject({ first: 0, newer: 1_161 });
    expect(seqs(await readChanges('t', 2_000, oldest.newer, signal))).toEqual(changes.slice(10, 30).reverse());
  });

  it('show how many entries are hidden between them', async () => {
    serve(600, [10, 20, 580]);
    const page = await readChanges('t', 600, null, signal);
    expect(seqs(page)).toEqual([580, 20, 10]);
    expect(foldedCount(page, page.entries, false)).toBe(597);
    // With a lower time bound, up to the last entry shown.
    expect(foldedCount(page, page.entries.slice(0, 1), true)).toBe(19);
    expect(foldedCount(page, [], true)).toBe(0);
  });

  it('are searched in a limited number of bundles', async () => {
    serve(20_000, [0]);
    const first = await readChanges('t', 20_000, null, signal);
    expect(first.entries).toEqual([]);
    expect(first.first).toBeGreaterThan(0);
    let page = first;
    while (page.first > 0) page = await readChanges('t', 20_000, page.first, signal);
    expect(seqs(page)).toEqual([0]);
    serve(0, []);
    expect(await readChanges('t', 0, null, signal)).toEqual({ entries: [], first: 0, end: 0, newer: null });
  });
});

describe('a period of a ledger', () => {
  const entries = ['2026-01-03T00:00:00Z', '2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'].map(
    (recorded_at, index): Entry => ({
      seq: 2 - index,
      action: 'travel',
      actor: 'admin',
      subject: '',
      recorded_at,
      clock_time: '',
    }),
  );
  const seqs = (since: string | null): number[] =>
    recordedSince(entries, since === null ? null : parse(since)).map(({ seq }) => seq);

  it('ends at the first entry that was recorded before it', () => {
    expect(seqs(null)).toEqual([2, 1, 0]);
    expect(seqs('2026-01-02T00:00:00Z')).toEqual([2, 1]);
    expect(seqs('2026-02-01T00:00:00Z')).toEqual([]);
  });
});
