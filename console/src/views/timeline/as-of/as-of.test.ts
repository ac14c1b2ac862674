import { afterEach, describe, expect, it, vi } from 'vitest';
import { format, parse } from '../../../lib/time/instant';
import { adjacentChange, type LedgerView } from './as-of';

/** Minutes of an hour at which each timeline recorded an entry. */
const LEDGERS: Record<string, [minute: number, action: string][]> = {
  child: [
    [30, 'create_timeline'],
    [35, 'read'],
    [40, 'record_event'],
    [50, 'reads'],
  ],
  parent: [
    [5, 'record_event'],
    [10, 'read'],
    [20, 'cancel_event'],
    [45, 'record_event'],
  ],
};
const minute = (minutes: number): bigint => parse('2026-11-20T08:00:00Z')! + BigInt(minutes) * 60_000_000n;
const lineage: LedgerView[] = [
  { timeline: 'child', until: null },
  { timeline: 'parent', until: minute(30) },
];

function serve(): void {
  vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/' });
  vi.stubGlobal('fetch', (address: string | URL) => {
    const { searchParams } = new URL(address);
    const [from, to] = searchParams
      .get('time_range')!
      .split('/')
      .map((end) => parse(end));
    const logs = LEDGERS[searchParams.get('timeline_id')!]!.map(([at, action]) => ({
      action,
      timestamp: format(minute(at)),
    })).filter(({ timestamp }) => (from ?? 0n) <= parse(timestamp)! && (to === null || parse(timestamp)! <= to!));
    if (searchParams.get('order') === 'newest') logs.reverse();
    return Promise.resolve(new Response(JSON.stringify({ logs, has_more: false })));
  });
}
afterEach(() => void vi.unstubAllGlobals());

describe('adjacentChange', () => {
  it('uses the ancestors for times before the fork and skips reads', async () => {
    serve();
    const { signal } = new AbortController();
    const adjacent = async (at: number, direction: 'before' | 'after'): Promise<number | null> => {
      const found = await adjacentChange(lineage, minute(at), direction, signal);
      return found === null ? null : Number((found - minute(0)) / 60_000_000n);
    };
    expect([await adjacent(55, 'before'), await adjacent(40, 'before'), await adjacent(30, 'before')]).toEqual([
      40, 30, 20,
    ]);
    expect([await adjacent(20, 'before'), await adjacent(5, 'before')]).toEqual([5, null]);
    // Entries that the parent recorded after the fork are not part of the child.
    expect([await adjacent(5, 'after'), await adjacent(20, 'after'), await adjacent(30, 'after')]).toEqual([
      20, 30, 40,
    ]);
    expect(await adjacent(40, 'after')).toBeNull();
  });
});
