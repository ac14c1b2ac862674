import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Counts } from '../../../lib/events/counts';
import { ALL } from '../../../lib/events/filter';
import { STEPS } from '../../../lib/events/steps';
import { BAR_PIXELS, Counted } from './counted.svelte';
import type { Legend } from '../groups/groups';
import { recount } from './recount';
import { readMissing } from '../groups/legend';

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

/** The questions that have no answer yet, by the actor that they ask for. */
const open = new Map<string, () => void>();
beforeEach(() => {
  open.clear();
  vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/' });
  vi.stubGlobal('fetch', (address: string | URL, options?: { body?: string; signal?: AbortSignal }) => {
    const asked = decodeURIComponent(`${String(address)} ${options?.body ?? ''}`);
    const actor = legend.groups.find(({ key }) => asked.includes(key))!.key;
    const body = JSON.stringify({ groups: [], count: 1, groups_count: 0 });
    return new Promise((answer, refuse) => {
      open.set(actor, () => answer(new Response(body)));
      options?.signal?.addEventListener('abort', () => refuse(new DOMException('given up', 'AbortError')));
    });
  });
});
afterEach(() => void vi.unstubAllGlobals());

it('groups are there one by one, and stay where the rest is given up', async () => {
  const counted = new Counted();
  const asking = new AbortController();
  const reading = readMissing(counted, question, legend, whole, asking.signal);
  const known = (): boolean[] => counted.seriesOf(legend, whole).map((counts) => counts !== null);
  await vi.waitFor(() => expect(open.has('B6')).toBe(true));
  expect(known()).toEqual([false, false, false, false]);
  open.get('B6')!();
  await vi.waitFor(() => expect(known()).toEqual([false, true, false, false]));
  asking.abort();
  await reading.catch(() => {});
  expect(known()[1]).toBe(true);

  open.clear();
  const again = readMissing(counted, question, legend, whole, new AbortController().signal);
  for (const { key } of legend.groups.filter((group) => group.key !== 'B6')) {
    await vi.waitFor(() => expect(open.has(key)).toBe(true));
    open.get(key)!();
  }
  await again;
  expect(open.has('B6')).toBe(false);
  expect(known()).toEqual([true, true, true, true]);
  // Of other stretches, nothing is known.
  expect(counted.seriesOf(legend, { ...whole })).toEqual([null, null, null, null]);
});

describe('a renewal', () => {
  const year = (number: number): bigint => BigInt(Date.UTC(number, 0)) * 1_000n;
  const years = STEPS.find(({ iso }) => iso === 'P1Y')!;
  const overall = { first: year(2001), last: year(2003) };

  /** Holds responses back until the test gives each its years, with one event a year. */
  function answering(): { asked: string[]; answer: (index: number, years: number[], cursor?: string) => void } {
    const asked: string[] = [];
    const answers: ((text: string) => void)[] = [];
    vi.stubGlobal('fetch', (address: string | URL, options?: { body?: string }) => {
      asked.push(decodeURIComponent(`${String(address)} ${options?.body ?? ''}`));
      return new Promise((done) => answers.push((text) => done(new Response(text))));
    });
    const answer = (index: number, found: number[], cursor?: string): void => {
      const groups = found.map((one) => ({
        key: `${one}-01-01T00:00:00Z`,
        until: `${one + 1}-01-01T00:00:00Z`,
        count: 1,
      }));
      const rest =
        cursor === undefined ? {} : { next_cursor: cursor, counted_until: `${found.at(-1)!}-06-01T00:00:00Z` };
      answers[index]!(JSON.stringify({ groups, groups_count: groups.length, count: groups.length, ...rest }));
    };
    return { asked, answer };
  }

  it('waits for the count of all time, and keeps what that found', async () => {
    const { asked, answer } = answering();
    const counted = new Counted();
    const { signal } = new AbortController();
    const reading = counted.readOverall(question, overall, years.micros / BAR_PIXELS, signal);
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    answer(0, [2001], 'rest');
    await vi.waitFor(() => expect(counted.overall?.count).toBe(1));
    const renewing = recount(counted, question, { from: year(2001), to: year(2001) }, signal);
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    answer(1, [2002, 2003]);
    await reading;
    await vi.waitFor(() => expect(asked).toHaveLength(3));
    answer(2, [2001]);
    await renewing;
    expect(counted.overall).toMatchObject({ count: 3, until: counted.overall?.to });
  });

  it('keeps a count of more time that ends first', async () => {
    const { asked, answer } = answering();
    const counted = new Counted();
    const { signal } = new AbortController();
    const first = counted.readOverall(
      question,
      { first: year(2002), last: year(2003) },
      years.micros / BAR_PIXELS,
      signal,
    );
    await vi.waitFor(() => expect(asked).toHaveLength(1));
    answer(0, [2002, 2003]);
    await first;
    const renewing = recount(counted, question, { from: year(2002), to: year(2002) }, signal);
    await vi.waitFor(() => expect(asked).toHaveLength(2));
    const second = counted.readOverall(question, overall, years.micros / BAR_PIXELS, signal);
    await vi.waitFor(() => expect(asked).toHaveLength(3));
    answer(2, [2001, 2002, 2003]);
    await second;
    answer(1, [2002]);
    await vi.waitFor(() => expect(asked).toHaveLength(4));
    answer(3, [2002]);
    await renewing;
    expect(counted.overall).toMatchObject({ count: 3, from: year(2001) });
  });
});
