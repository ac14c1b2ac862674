/** Per-request clocks. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import {
  BaggageError,
  clock,
  forwardingFetch,
  outgoingHeaders,
  RequestClocks,
  setSqlClock,
  timelineIn,
  TooManyClocksError,
  withTimeline,
  type RequestClocksOptions,
} from '../src/baggage.js';
import { Client, ClockClosedError, Instant, type VirtualClock } from '../src/index.js';
import { client, rejection, timeline, vectors, wait } from './harness.js';

interface Vectors {
  read: { header: string | null; timeline: string | null }[];
  rejected: { header: string }[];
  written: { header: string | null; timeline: string; expected: string }[];
  sql: { moment: string; expected: string }[];
}

/** Creates a timeline whose clock is paused in a year, and returns a header that names it. */
async function timelineInYear(year: number): Promise<string> {
  const name = await timeline(client());
  await client().pauseTime({ timeline_id: name });
  await client().travel({ destination_time: `${year}-06-01T00:00:00Z`, timeline_id: name });
  return `userId=alice,timenav=${name}`;
}

function requestClocks(options: RequestClocksOptions = {}, of: Client = client()): RequestClocks {
  const clocks = new RequestClocks(of, options);
  onTestFinished(() => clocks.close());
  return clocks;
}

/** Returns the timeline in the outgoing `baggage` header. */
function timelineOf(header: string): string {
  return timelineIn(header)!;
}

function year(): number {
  return clock().date().getUTCFullYear();
}

/** Starts a server that uses the middleware, and returns a function that sends requests to it. */
async function startServer(clocks: RequestClocks): Promise<(baggage?: string) => Promise<Response>> {
  const server = createServer((request, response) => {
    clocks.middleware(request, response, () => {
      // A later task still uses the clock of the request.
      setTimeout(() => {
        try {
          response.end(`${year()} ${outgoingHeaders({ Baggage: 'region=eu' }).get('baggage')!}`);
        } catch (error) {
          response.writeHead(500).end(String(error));
        }
      }, 1);
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return (baggage) => fetch(url, { headers: baggage === undefined ? {} : { Baggage: baggage } });
}

describe('the baggage header', () => {
  const { read, rejected, written } = vectors<Vectors>('baggage');

  it('is parsed according to the shared vectors', () => {
    for (const { header, timeline: expectedTimeline } of read)
      expect(timelineIn(header), String(header)).toBe(expectedTimeline);
    for (const { header } of rejected) expect(() => timelineIn(header), header).toThrow(BaggageError);
  });

  it('is written according to the shared vectors', () => {
    for (const { header, timeline: given, expected } of written) {
      expect(withTimeline(header, given)).toBe(expected);
      expect(timelineIn(expected)).toBe(given);
    }
  });
});

describe('requests', () => {
  it('are served with the clock that they name', async () => {
    const [first, second] = [await timelineInYear(2031), await timelineInYear(1968)];
    const clocks = requestClocks({ allowed: (name) => name !== 'system' });
    const send = await startServer(clocks);
    const responses = await Promise.all([first, second, first, second].map((header) => send(header)));
    const texts = await Promise.all(responses.map((response) => response.text()));
    expect(texts.map((text) => text.slice(0, 4))).toEqual(['2031', '1968', '2031', '1968']);
    expect(texts[0]).toBe(`2031 region=eu,timenav=${timelineOf(first)}`);
    expect(await (await send()).text()).toMatch(/ region=eu,timenav=main$/);
    // If the clock travels, the time of the application changes.
    await client().travel({ destination_time: '2040-01-01T00:00:00Z', timeline_id: timelineOf(first) });
    await clocks.serve(first, (current) => current.until('2040-01-01T00:00:00Z'));
    expect(await (await send(first)).text()).toMatch(/^2040/);
    for (const [header, problem] of [
      ['timenav=nowhere', 'nowhere'],
      ['timenav=a,timenav=b', 'two timelines'],
      ['timenav=system', 'may not'],
    ]) {
      const response = await send(header);
      expect([response.status, (await response.text()).includes(problem!)]).toEqual([400, true]);
    }
    await client().endTimeline({ timeline_id: timelineOf(second) });
    let response = await send(second);
    while (response.status !== 400) {
      // The end of the timeline may arrive on the stream later, or during a request.
      await wait(20);
      response = await send(second);
    }
    expect(() => clock()).toThrow('no request is being served');
    clocks.close();
    expect((await send()).status).toBe(503);
  });

  it('fail without a clock instead of using host time', async () => {
    const unreachable = new Client({ baseUrl: 'http://127.0.0.1:1', apiKey: 'tnk_x' });
    const send = await startServer(requestClocks({ timeoutMs: 300 }, unreachable));
    const response = await send();
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.text()).not.toContain('127.0.0.1');
  });

  it('share one clock per timeline, and close the least recently used one', async () => {
    const headers = await Promise.all([2030, 2031, 2032].map(timelineInYear));
    const opened: VirtualClock[] = [];
    class RecordingClient extends Client {
      override async virtualClock(...given: Parameters<Client['virtualClock']>): Promise<VirtualClock> {
        const open = await super.virtualClock(...given);
        opened.push(open);
        return open;
      }
    }
    const clocks = requestClocks(
      { clocksMax: 2 },
      new RecordingClient({ baseUrl: inject('url'), apiKey: inject('key') }),
    );
    const serve = (header: string): Promise<number> => clocks.serve(header, () => year());
    const [a, b, c] = headers as [string, string, string];
    expect(await Promise.all([a, b, a, b, a].map(serve))).toEqual([2030, 2031, 2030, 2031, 2030]);
    expect(opened.length).toBe(2);
    const nested = clocks.serve(a, () => clocks.serve(b, () => rejection(serve(c))));
    expect(await nested).toBeInstanceOf(TooManyClocksError);
    expect(await serve(a)).toBe(2030);
    expect(await serve(c)).toBe(2032);
    const open = opened.filter((open) => open.isConnected).map((open) => open.timelineId);
    expect(open.sort()).toEqual([timelineOf(a), timelineOf(c)].sort());
    clocks.close();
    expect(opened.filter((open) => open.isConnected)).toEqual([]);
    expect(await rejection(serve(a))).toBeInstanceOf(ClockClosedError);
  });

  it('forward their timeline to other services', async () => {
    const seen: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers.baggage as string | undefined);
      response.end();
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const header = await timelineInYear(2033);
    const member = `timenav=${timelineOf(header)}`;
    await forwardingFetch(url, { headers: { Baggage: 'a=b' } });
    await requestClocks().serve(header, async () => {
      await forwardingFetch(url, { headers: { Baggage: 'a=b,timenav=else' } });
      await forwardingFetch(new Request(url, { headers: { Baggage: 'c=d' } }));
      await forwardingFetch(url);
    });
    expect(seen).toEqual(['a=b', `a=b,${member}`, `c=d,${member}`, member]);
  });

  it('set the time of a database transaction', async () => {
    const queries: unknown[] = [];
    const database = { query: (...query: unknown[]) => queries.push(query) };
    await requestClocks().serve(await timelineInYear(2034), () => setSqlClock(database));
    expect(queries).toEqual([["SELECT set_config('timenav.now', $1, true)", ['2034-06-01T00:00:00Z']]]);
    for (const { moment, expected } of vectors<Vectors>('baggage').sql) {
      await setSqlClock(database, Instant.parse(moment));
      expect(queries.at(-1)).toEqual([expect.any(String), [expected]]);
    }
  });
});
