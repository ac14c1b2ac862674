import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Counts } from '../../lib/events/counts';
import { ALL } from '../../lib/events/filter';
import { STEPS } from '../../lib/events/steps';
import { Counted } from './counted.svelte';
import type { Legend } from './groups';
import { readMissing } from './legend';

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
