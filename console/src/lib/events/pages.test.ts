import { afterEach, describe, expect, it, vi } from 'vitest';
import { parse } from '../time/instant';
import { ALL } from './filter';
import { nextEvent } from './pages';

const NOON = '2020-01-01T12:00:00Z';
const LATER = '2020-01-02T00:00:00Z';
/** Two thousand events (two pages) at one instant, and one after them. */
const events = [
  ...Array.from({ length: 2_000 }, (_, index) => ({ event_id: `e${index}`, time: NOON, description: '' })),
  { event_id: 'last', time: LATER, description: '' },
];
const question = { timeline: 'demo', filter: ALL, box: null };

/** Responds like the service. */
function respond(address: string): Promise<Response> {
  const { searchParams } = new URL(address);
  const [from, to] = searchParams.get('time_range')!.split('/');
  const [first, last] = [from, to].map((end) => parse(end!));
  const found = events.filter(({ time }) => {
    const at = parse(time)!;
    return (first == null || at >= first) && (last == null || at <= last);
  });
  if (searchParams.get('order') === 'newest') found.reverse();
  const begin = Number(searchParams.get('cursor') ?? 0);
  const end = begin + Number(searchParams.get('limit'));
  const has_more = end < found.length;
  const page = { events: found.slice(begin, end), has_more, ...(has_more ? { next_cursor: String(end) } : {}) };
  return Promise.resolve(new Response(JSON.stringify(page)));
}

afterEach(() => vi.unstubAllGlobals());

describe('neighboring event', () => {
  const next = (chosen: string | null, direction: 1 | -1, time = NOON) => {
    vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/' });
    vi.stubGlobal('fetch', respond);
    return nextEvent(question, parse(time)!, direction, chosen);
  };

  it('may be at the same instant', async () => {
    expect(await next('e0', 1)).toEqual({ id: 'e1', time: parse(NOON) });
    expect(await next('e5', -1)).toEqual({ id: 'e4', time: parse(NOON) });
    // Last event of a page, and first event of the next.
    expect((await next('e999', 1))?.id).toBe('e1000');
    expect((await next('e1000', -1))?.id).toBe('e999');
  });

  it('is at the next instant after the last one, and null at the end', async () => {
    expect(await next('e1999', 1)).toEqual({ id: 'last', time: parse(LATER) });
    expect((await next('last', -1, LATER))?.id).toBe('e1999');
    expect(await next('e0', -1)).toBeNull();
    expect((await next(null, 1))?.id).toBe('last');
  });
});
