import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ALL } from '../../../lib/events/filter';
import type { Scale } from '../../../lib/chart/scale';
import { fitted } from '../../../lib/chart/scale';
import { ValueMeasurements, measureStep } from './measurements.svelte';

const DAY = 86_400_000_000n;
const question = { timeline: 'flights', filter: ALL, box: null };
const view: Scale = fitted(0n, 20n * DAY, 1_000, 0);
const dayOf = (day: number): string => new Date(day * 86_400_000).toISOString().replace('.000', '');
const group = (day: number, second_key: string, count: number): object => ({
  key: dayOf(day),
  second_key,
  end: dayOf(day + 1),
  count,
});

const requests: URLSearchParams[] = [];
const { signal } = new AbortController();

/** Responds to each request with the groups of its time range, up to `groupsMax`. */
function responding(groups: readonly { key: string }[], groupsMax = Infinity): void {
  vi.stubGlobal('fetch', (address: string | URL) => {
    const query = new URL(address).searchParams;
    requests.push(query);
    const [from, to] = query.get('time_range')!.split('/') as [string, string];
    const found = groups.filter(({ key }) => key >= from && key <= to);
    const body = { groups: found.slice(0, groupsMax), groups_count: found.length, count: 9, ungrouped_count: 0 };
    return Promise.resolve(new Response(JSON.stringify(body)));
  });
}

beforeEach(() => {
  requests.length = 0;
  vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/' });
});
afterEach(() => void vi.unstubAllGlobals());

describe('interval values', () => {
  const read = async (measured: ValueMeasurements): Promise<void> =>
    measured.read(question, 'delay', view, { from: 0n, to: 4n * DAY - 1n }, null, signal);
  const means = ({ intervals }: ValueMeasurements): (number | undefined)[] =>
    [...intervals].sort(([a], [b]) => Number(a - b)).map(([, interval]) => interval?.mean);
  const groups = [group(0, '5', 1), group(0, '7', 1), group(2, '4', 3), group(2, 'none', 1)] as { key: string }[];

  it('are read in one request', async () => {
    expect(measureStep(view).iso).toBe('P1D');
    responding(groups);
    const measured = new ValueMeasurements();
    await read(measured);
    expect(requests.map((query) => [query.get('group_by'), query.get('bucket')])).toEqual([
      ['time,attribute.delay', 'P1D'],
    ]);
    expect(means(measured)).toEqual([6, undefined, 4, undefined]);
    expect(measured.isReading).toBe(false);
    await read(measured);
    expect(requests).toHaveLength(1);
  });

  it('are read in halves if a response cannot contain all, and partially for a single interval', async () => {
    responding(groups, 1);
    const measured = new ValueMeasurements();
    await read(measured);
    expect(measured.error).toBeNull();
    // All, then both halves of four intervals, and the halves of each that has two values.
    expect(requests).toHaveLength(7);
    expect(means(measured)).toEqual([5, undefined, 4, undefined]);
    expect([...measured.intervals.values()].map((interval) => interval?.isAll)).toContain(false);
  });
});
