import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadEvents } from './load';

const line = (id: number): string =>
  JSON.stringify({ event_id: `e${id}`, time: `2000-01-01T00:00:0${id}Z`, description: 'Grüße' });

/** Answers with bytes in pieces that know nothing of lines or letters. */
function answer(text: string, size: number): { canceled: boolean } {
  const bytes = new TextEncoder().encode(text);
  const state = { canceled: false };
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= bytes.length) controller.close();
      else controller.enqueue(bytes.slice(at, (at += size)));
    },
    cancel() {
      state.canceled = true;
    },
  });
  vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/' });
  vi.stubGlobal('fetch', () => Promise.resolve(new Response(body)));
  return state;
}

afterEach(() => vi.unstubAllGlobals());

const options = { timeline: 'demo', signal: new AbortController().signal, onProgress: () => {} };

describe('reading events', () => {
  it('puts lines together that arrive in pieces, also without a last line break', async () => {
    answer(`${line(1)}\n${line(2)}\n\n${line(3)}`, 7);
    const { store, isCut } = await loadEvents(options);
    expect(store.ids).toEqual(['e1', 'e2', 'e3']);
    expect(store.titles[2]).toBe('Grüße');
    expect(isCut).toBe(false);
  });

  it('stops at the limit and ends the request', async () => {
    const state = answer(`${line(1)}\n`.repeat(5_000), 90);
    const { store, isCut } = await loadEvents({ ...options, limit: 2 });
    expect([store.count, isCut, state.canceled]).toEqual([2, true, true]);
  });

  it('throws what the service says', async () => {
    vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/' });
    vi.stubGlobal('fetch', () =>
      Promise.resolve(new Response('{"status":"No.","code":"not_found","detail":"gone"}', { status: 404 })),
    );
    await expect(loadEvents(options)).rejects.toMatchObject({ code: 'not_found', httpStatus: 404 });
  });
});
