/** The client with a real service, and with a stub server that loses responses. */
import { inspect } from 'node:util';
import { describe, expect, inject, it, vi } from 'vitest';
import { ApiConnectionError, ApiError, BadRequestError, Client, SettingsError, type Input } from '../src/index.js';
import { client, rejection, stubServer, timeline } from './harness.js';

const KEY = `tnk_${'0'.repeat(36)}`;

describe('calls', () => {
  it('report the invalid field', async () => {
    const error = await rejection(client().travel({ destination_time: '2028-02-30T09:00:00Z' }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toBeInstanceOf(BadRequestError);
    const problem = error as ApiError;
    expect([problem.httpStatus, problem.code, problem.field]).toEqual([400, 'invalid_parameter', 'destination_time']);
    expect(problem.errors[0]!.detail).toContain('has 29 days');
    expect(problem.message).toContain('destination_time');
    expect(problem.requestId).toMatch(/^req_/);
  });

  it('with an outdated ifMatch are rejected', async () => {
    const service = client();
    const id = await timeline(service);
    const { generation } = await service.clock({ timeline_id: id });
    await service.setRate({ rate: 2, timeline_id: id }, { ifMatch: generation });
    const error = await rejection(service.setRate({ rate: 3, timeline_id: id }, { ifMatch: generation }));
    expect((error as ApiError).httpStatus).toBe(412);
  });

  it('take effect once per idempotency key', async () => {
    const service = client();
    const id = await timeline(service);
    const call = { duration: '1h', timeline_id: id };
    const first = await service.fastForward(call, { idempotencyKey: 'one-hour' });
    const again = await service.fastForward(call, { idempotencyKey: 'one-hour' });
    expect(again.generation).toBe(first.generation);
  });

  it('import and export files', async () => {
    const service = client();
    const id = await timeline(service);
    const rows = 'time,description\n2028-02-29T09:00:00Z,A leap day\n2028-03-01T09:00:00Z,The day after\n';
    const imported = await service.importEvents({
      content: rows,
      content_type: 'text/csv',
      format: 'csv',
      timeline_id: id,
    });
    expect(imported.imported).toBe(2);
    const stream = new Blob([rows]).stream();
    expect((await service.importEvents({ content: stream, format: 'csv', timeline_id: id })).unchanged).toBe(2);
    expect(await (await service.exportEvents({ format: 'csv', timeline_id: id })).text()).toContain('A leap day');
    expect((await service.checkpoint({ timeline_id: id })).size).toBeGreaterThan(0);
    expect(await service.checkpointText({ timeline_id: id })).toMatch(/^timenav\.local\//);
    expect(await service.tile({ timeline_id: id, tile: '0/000.p/1' })).toHaveLength(32);
  });

  it('encode parameters of all types', async () => {
    const service = client();
    const id = await timeline(service);
    const event = { time: '2028-02-29T09:00:00Z', description: 'A storm & a + sign', attributes: { category: '5' } };
    await service.recordEvents({ body: [event, { ...event, attributes: { category: '1' } }], timeline_id: id });
    const found = await service.monitorEvents({
      location: '*',
      time_range: '../..',
      attribute: { category: '5' },
      text: 'storm',
      limit: 10,
      timeline_id: id,
    });
    expect(found.events.map(({ description }) => description)).toEqual(['A storm & a + sign']);
  });

  it('iterate over all pages of a list', async () => {
    const service = client();
    const timeline_id = await timeline(service);
    const days = [1, 2, 3, 4, 5, 6, 7].map(String);
    const body = days.map((day) => ({ time: `2028-02-0${day}T09:00:00Z`, description: day }));
    await service.recordEvents({ body, timeline_id });
    const input = { location: '*', time_range: '../..', limit: 3, timeline_id };
    const found: string[][] = [];
    for await (const { events } of service.pages('monitor_events', input)) {
      found.push(events.map(({ description }) => description));
    }
    expect(found).toEqual([['1', '2', '3'], ['4', '5', '6'], ['7']]);
    // @ts-expect-error -- the operation has no pages
    expect(() => service.pages('clock', {})).not.toThrow();
  });

  it('read the stream of a timeline', async () => {
    const service = client();
    const id = await timeline(service);
    const events = await service.stream({ timeline_id: id, topics: 'clock,events' });
    const seen: string[] = [];
    for await (const { event, data } of events) {
      seen.push(event);
      if (event === 'clock') {
        await service.recordEvents({ body: { time: '2028-02-29T09:00:00Z', description: 'Seen' }, timeline_id: id });
      } else {
        expect(data.change).toBe('recorded');
        expect(events.lastId.split('~')[0]).toBe(String(data.position));
        events.close();
      }
    }
    expect(seen).toEqual(['clock', 'events']);
  });

  it('default to the timeline of the client', async () => {
    const id = await timeline(client());
    const service = new Client({ baseUrl: inject('url'), apiKey: inject('key'), timelineId: id });
    expect((await service.clock()).timeline_id).toBe(id);
    expect((await service.pauseTime()).timeline_id).toBe(id);
    expect((await service.clock({ timeline_id: 'main' })).timeline_id).toBe('main');
  });

  it('reject with the reason of an aborted signal while the response is read', async () => {
    const controller = new AbortController();
    const fetch = (_: unknown, init?: RequestInit): Promise<Response> => {
      const { signal } = init!;
      const start = (stream: ReadableStreamDefaultController): void =>
        signal!.addEventListener('abort', () => stream.error(signal!.reason));
      // Abort once the headers of the response have arrived.
      setTimeout(() => controller.abort());
      return Promise.resolve(new Response(new ReadableStream({ start })));
    };
    const service = new Client({ baseUrl: 'http://127.0.0.1:1', apiKey: 'tnk_none', fetch });
    const thrown: unknown = await service.clock({}, { signal: controller.signal }).catch((error: unknown) => error);
    expect(thrown).toBe(controller.signal.reason);
  });

  it('have typed inputs', () => {
    const input: Input<'travel'> = { destination_time: '2028-02-29T09:00:00Z' };
    // @ts-expect-error -- a required member is missing
    const incomplete: Input<'travel'> = {};
    // @ts-expect-error -- unknown member
    const misspelled: Input<'travel'> = { ...input, destinaton: 'Paris' };
    expect([input, incomplete, misspelled]).toHaveLength(3);
  });
});

describe('retries', () => {
  it('use the same idempotency key after a lost response', async () => {
    const { url, requests } = await stubServer(['drop', [503, { 'Retry-After': '0' }], [200, { generation: 1 }]]);
    const moved = await new Client({ baseUrl: url, apiKey: KEY }).travel({ destination_time: '2028-02-29T09:00:00Z' });
    expect(moved.generation).toBe(1);
    const keys = requests.map((headers) => headers['idempotency-key']);
    expect(keys).toHaveLength(3);
    expect(keys[0]).toBeDefined();
    expect(new Set(keys).size).toBe(1);
  });

  it('send the timeline in a header', async () => {
    const { url, requests } = await stubServer([
      [200, {}],
      [200, {}],
      [200, {}],
      [200, {}],
    ]);
    const bound = new Client({ baseUrl: url, apiKey: KEY, timelineId: 'mine' });
    await bound.clock();
    await bound.pauseTime({ timeline_id: 'other' });
    await bound.timeline({ timeline_id: 'third' });
    await new Client({ baseUrl: url, apiKey: KEY }).clock();
    expect(requests.map((headers) => headers['timenav-timeline'])).toEqual(['mine', 'other', 'third', undefined]);
  });

  it('exclude requests without an idempotency key after a lost response', async () => {
    const { url, requests } = await stubServer(['drop']);
    expect(await rejection(new Client({ baseUrl: url, apiKey: KEY }).deleteUser({ user_id: 'alice' }))).toBeInstanceOf(
      ApiConnectionError,
    );
    expect(requests).toHaveLength(1);
  });

  it('do not wait for a Retry-After above the limit', async () => {
    const { url, requests } = await stubServer([[429, { 'Retry-After': '3600' }]]);
    const error = (await rejection(new Client({ baseUrl: url, apiKey: KEY }).clock())) as ApiError;
    expect([error.httpStatus, error.retryAfterSeconds]).toEqual([429, 3600]);
    expect(requests).toHaveLength(1);
  });

  it('stop when the signal is aborted', async () => {
    const { url } = await stubServer([[503, { 'Retry-After': '20' }]]);
    const signal = AbortSignal.timeout(50);
    const start = performance.now();
    expect((await rejection(new Client({ baseUrl: url, apiKey: KEY }).clock({}, { signal }))) as Error).toHaveProperty(
      'name',
      'TimeoutError',
    );
    expect(performance.now() - start, 'before the next attempt').toBeLessThan(20_000);
  });
});

describe('settings', () => {
  it('default to environment variables', async () => {
    vi.stubEnv('TIMENAV_URL', `${inject('url')}/`);
    vi.stubEnv('TIMENAV_API_KEY', ` ${inject('key')}\n`);
    vi.stubEnv('TIMENAV_TIMELINE', 'main');
    expect((await new Client().clock()).timeline_id).toBe('main');
    vi.unstubAllEnvs();
  });

  it.each([
    [{}, 'TIMENAV_API_KEY'],
    [{ apiKey: ' ' }, 'empty'],
    [{ apiKey: 'tnk_é' }, 'characters'],
    [{ apiKey: KEY, baseUrl: 'ftp://127.0.0.1' }, 'TIMENAV_URL'],
    [{ apiKey: KEY, baseUrl: 'http://' }, 'TIMENAV_URL'],
    [{ apiKey: KEY, baseUrl: `http://${KEY}@127.0.0.1` }, 'TIMENAV_URL'],
  ])('are rejected if invalid: %#', (options, expected) => {
    let message = '';
    try {
      new Client(options);
    } catch (error) {
      expect(error).toBeInstanceOf(SettingsError);
      message = (error as Error).message;
    }
    expect(message).toContain(expected);
    expect(message).not.toContain(KEY);
  });

  it('do not reveal the key in errors or logs', async () => {
    const service = client();
    const clock = await service.virtualClock();
    const rejected = await rejection(service.travel({ destination_time: 'never' }));
    const unreachable = await rejection(
      new Client({ baseUrl: 'http://127.0.0.1:9', apiKey: inject('key'), retries: { attempts: 1 } }).clock(),
    );
    expect(unreachable).toBeInstanceOf(ApiConnectionError);
    const texts = [service, clock, rejected, unreachable].map((value) =>
      inspect(value, { depth: 20, showHidden: true }),
    );
    clock.close();
    expect(texts.join()).not.toContain(inject('key'));
    expect(JSON.stringify(service)).not.toContain(inject('key'));
  });

  it('do not follow redirects', async () => {
    const { url } = await stubServer([[302, { Location: 'http://127.0.0.1:9/' }]]);
    expect(((await rejection(new Client({ baseUrl: url, apiKey: KEY }).clock())) as ApiError).httpStatus).toBe(302);
  });

  it('of a session need no key', async () => {
    const { url, requests } = await stubServer([[200, { generation: 1 }]]);
    await new Client({ baseUrl: url, session: true }).clock();
    expect(requests[0]).not.toHaveProperty('authorization');
  });
});
