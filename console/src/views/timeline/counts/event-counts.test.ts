import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Counts } from '../../../lib/events/counts';
import { ALL } from '../../../lib/events/filter';
import { STEPS } from '../../../lib/events/steps';
import { BAR_PIXELS, EventCounts } from './event-counts.svelte';
import type { Legend } from '../groups/groups';
import { recount } from './recount';
import { legendOfAll } from '../groups/legend';
import { keepAll, readAllValues, readMissing } from '../groups/series';

const [step] = STEPS;
const whole: Counts = { step: step!, from: 0n, to: 10n, until: 10n, buckets: [], count: 9 };
const legend: Legend = {
  by: 'actor',
  groups: ['UA', 'B6', 'EV', 'DL'].map((key) => ({ key, count: 1 })),
  all: [],
  classes: null,
  others: 0,
  isAbout: false,
  hasSeveral: false,
};
const question = { timeline: 'flights', filter: ALL, box: null };

/** The parameters of each request. */
const requests: URLSearchParams[] = [];
const month = (number: number): string => new Date(Date.UTC(2013, number)).toISOString().replace('.000', '');
const group = (number: number, key: string, count: number): object => ({
  key: month(number),
  second_key: key,
  end: month(number + 1),
  count,
});

/** Responds to each request with some groups and the total number of groups. */
function responding(groups: readonly object[], groups_count = groups.length): void {
  requests.length = 0;
  vi.stubGlobal('fetch', (address: string | URL) => {
    requests.push(new URL(address).searchParams);
    const body = { groups, groups_count, groups_truncated: false, count: 9, ungrouped_count: 2 };
    return Promise.resolve(new Response(JSON.stringify(body)));
  });
}
beforeEach(() => void vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/' }));
afterEach(() => void vi.unstubAllGlobals());

describe('bar groups', () => {
  const { signal } = new AbortController();
  const found = [group(0, 'UA', 2), group(0, 'B6', 1), group(2, 'UA', 4)];

  it('are counted in one request and reused', async () => {
    responding(found);
    const counted = new EventCounts();
    await readMissing(counted, question, legend, whole, signal);
    expect(requests.map((query) => [query.get('group_by'), query.get('values')])).toEqual([
      ['time,actor', '["UA","B6","EV","DL"]'],
    ]);
    const counts = counted.seriesOf(legend, whole).map((of) => of?.buckets.map(({ count }) => count));
    expect(counts).toEqual([[2, 4], [1], [], []]);
    await readMissing(counted, question, { ...legend, groups: legend.groups.slice(2) }, whole, signal);
    expect(requests).toHaveLength(1);
    // Nothing is known for other counts.
    expect(counted.seriesOf(legend, { ...whole })).toEqual([null, null, null, null]);
  });

  it('are split across requests to fit the response limit', async () => {
    responding([]);
    const buckets = Array.from({ length: 5_000 }, (_, at) => ({ from: BigInt(at), to: BigInt(at + 1), count: 1 }));
    await readMissing(new EventCounts(), question, legend, { ...whole, buckets }, signal);
    expect(requests.map((query) => query.get('values'))).toEqual(['["UA","B6"]', '["EV","DL"]']);
  });

  it('sum several values', async () => {
    responding(found);
    const counted = new EventCounts();
    const classes = [{ key: '0 to 9', count: 7, values: ['UA', 'B6'] }];
    await readMissing(counted, question, { ...legend, groups: classes }, whole, signal);
    const [sum] = counted.seriesOf({ ...legend, groups: classes }, whole);
    expect([sum?.count, sum?.buckets.map(({ count }) => count)]).toEqual([7, [3, 4]]);
  });

  it('provide the legend if a response contains all values', async () => {
    responding(found);
    const all = await readAllValues(question, 'actor', whole, signal);
    expect(requests.map((query) => query.has('values'))).toEqual([false]);
    const allValues = legendOfAll(ALL, 'actor', all!, null, { pins: ['XX'], skip: 0 });
    expect(allValues).toMatchObject({
      groups: [
        { key: 'XX', count: 0 },
        { key: 'UA', count: 6 },
        { key: 'B6', count: 1 },
      ],
      others: 2,
      isAbout: false,
    });
    const counted = new EventCounts();
    keepAll(counted, allValues, whole, all!);
    expect(counted.seriesOf(allValues, whole).map((counts) => counts?.count)).toEqual([0, 6, 1]);
    responding(found, 10_001);
    expect(await readAllValues(question, 'actor', whole, signal)).toBeNull();
  });
});

describe('a recount', () => {
  const year = (number: number): bigint => BigInt(Date.UTC(number, 0)) * 1_000n;
  const years = STEPS.find(({ iso }) => iso === 'P1Y')!;
  const overall = { first: year(2001), last: year(2003) };

  /** Delays each response until the test provides its years, with one event per year. */
  function answering(): { requests: string[]; answer: (index: number, years: number[], cursor?: string) => void } {
    const requests: string[] = [];
    const answers: ((text: string) => void)[] = [];
    vi.stubGlobal('fetch', (address: string | URL, options?: { body?: string }) => {
      requests.push(decodeURIComponent(`${String(address)} ${options?.body ?? ''}`));
      return new Promise((done) => answers.push((text) => done(new Response(text))));
    });
    const answer = (index: number, found: number[], cursor?: string): void => {
      const groups = found.map((item) => ({
        key: `${item}-01-01T00:00:00Z`,
        until: `${item + 1}-01-01T00:00:00Z`,
        count: 1,
      }));
      const rest =
        cursor === undefined ? {} : { next_cursor: cursor, counted_until: `${found.at(-1)!}-06-01T00:00:00Z` };
      answers[index]!(JSON.stringify({ groups, groups_count: groups.length, count: groups.length, ...rest }));
    };
    return { requests, answer };
  }

  it('waits for the overall count and keeps its result', async () => {
    const { requests, answer } = answering();
    const counted = new EventCounts();
    const { signal } = new AbortController();
    const reading = counted.readOverall(question, overall, years.micros / BAR_PIXELS, signal);
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    answer(0, [2001], 'rest');
    await vi.waitFor(() => expect(counted.overall?.count).toBe(1));
    const renewing = recount(counted, question, { from: year(2001), to: year(2001) }, signal);
    await vi.waitFor(() => expect(requests).toHaveLength(2));
    answer(1, [2002, 2003]);
    await reading;
    await vi.waitFor(() => expect(requests).toHaveLength(3));
    answer(2, [2001]);
    await renewing;
    expect(counted.overall).toMatchObject({ count: 3, until: counted.overall?.to });
  });

  it('keeps a count of a longer range that ends first', async () => {
    const { requests, answer } = answering();
    const counted = new EventCounts();
    const { signal } = new AbortController();
    const first = counted.readOverall(
      question,
      { first: year(2002), last: year(2003) },
      years.micros / BAR_PIXELS,
      signal,
    );
    await vi.waitFor(() => expect(requests).toHaveLength(1));
    answer(0, [2002, 2003]);
    await first;
    const renewing = recount(counted, question, { from: year(2002), to: year(2002) }, signal);
    await vi.waitFor(() => expect(requests).toHaveLength(2));
    const second = counted.readOverall(question, overall, years.micros / BAR_PIXELS, signal);
    await vi.waitFor(() => expect(requests).toHaveLength(3));
    answer(2, [2001, 2002, 2003]);
    await second;
    answer(1, [2002]);
    await vi.waitFor(() => expect(requests).toHaveLength(4));
    answer(3, [2002]);
    await renewing;
    expect(counted.overall).toMatchObject({ count: 3, from: year(2001) });
  });
});
