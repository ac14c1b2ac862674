/** Test helpers. */
import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, inject, onTestFinished } from 'vitest';
import { Client } from '../src/index.js';

export const REPOSITORY = new URL('../../../', import.meta.url);

export function readText(path: string): string {
  return readFileSync(new URL(path, REPOSITORY), 'utf8');
}

/** Returns a file of test cases that the clients of all languages share. */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller knows the type of the file
export function vectors<T>(name: string): T {
  return JSON.parse(readText(`clients/vectors/${name}.json`)) as T;
}

export function client(): Client {
  return new Client({ baseUrl: inject('url'), apiKey: inject('key') });
}

/** Creates a timeline for one test. */
export async function timeline(of: Client): Promise<string> {
  const name = `t-${crypto.randomUUID()}`;
  await of.createTimeline({ timeline_id: name });
  return name;
}

export function wait(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

export async function eventually(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (!condition()) {
    expect(performance.now(), 'the condition was not met in time').toBeLessThan(deadline);
    await wait(5);
  }
}

/** Returns the rejection reason of a promise. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('the promise was fulfilled');
}

export type StubResponse = 'drop' | { stream: string } | [status: number, headersOrBody: Record<string, unknown>];

/** Starts a server with scripted responses, for failures that a real service does not produce on demand. */
export async function stubServer(
  responses: StubResponse[] | ((path: string) => Promise<StubResponse>),
): Promise<{ url: string; requests: IncomingHttpHeaders[] }> {
  const requests: IncomingHttpHeaders[] = [];
  const respond = async (request: IncomingMessage, output: ServerResponse): Promise<void> => {
    requests.push(request.headers);
    const response = Array.isArray(responses) ? responses.shift() : await responses(String(request.url));
    if (response === undefined || response === 'drop') {
      request.socket.destroy();
      return;
    }
    if ('stream' in response) {
      output.writeHead(200, { 'Content-Type': 'text/event-stream' }).end(response.stream);
      return;
    }
    const [status, content] = response;
    output.writeHead(status, status === 200 ? {} : (content as Record<string, string>));
    output.end(JSON.stringify(status === 200 ? content : { status: 'No.', code: 'no', detail: '' }));
  };
  const server = createServer((request, response) => {
    request.resume().on('end', () => void respond(request, response));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
