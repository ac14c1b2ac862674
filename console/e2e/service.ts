/** A running service with its own data folder, and proxies in front of it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

export const BINARY = process.env.TIMENAV_BIN ?? resolve(import.meta.dirname, '../../target/debug/timenav');

/** Random delay of up to this many milliseconds for each request and response, to find timing bugs. */
const SLOW_MS = Number(process.env.E2E_SLOW_MS ?? 0);

const START_MAX_MS = 60_000;

/** Data folders are in memory if there is enough, because disk speed does not matter for these tests. */
export const FOLDER = roomInMemory() > 1e9 ? '/dev/shm' : tmpdir();

function roomInMemory(): number {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm');
    return bavail * bsize;
  } catch {
    // This system has no such folder.
    return 0;
  }
}

/** The password of all test users. */
export const PASSWORD = 'correct horse battery staple';

/** The minimum retention configured in the test service. */
export const RETENTION_FLOOR_SECS = 2;

/** A running service with its own data folder. */
export class Service {
  #process: ChildProcess | null = null;
  #address = '';
  #slow: Server | null = null;
  url = '';
  adminKey = '';

  private constructor(
    readonly data: string,
    private options: readonly string[],
  ) {}

  /** Starts a new service with the timeline `demo`, and waits until it listens. */
  static async start(...options: string[]): Promise<Service> {
    return Service.#of(['--demo', ...options]);
  }

  /** Returns a service that is already running. It is not ended by this object. */
  static at(url: string, adminKey: string): Service {
    const service = new Service('', []);
    service.url = url;
    service.adminKey = adminKey;
    return service;
  }

  /** Starts a service on a copy of a data folder with its timelines, users, passwords and keys. */
  static async copied(data: string, ...options: string[]): Promise<Service> {
    return Service.#of(options, data);
  }

  static async #of(options: string[], copied?: string): Promise<Service> {
    const service = new Service(mkdtempSync(join(FOLDER, 'timenav-e2e-')), options);
    if (copied !== undefined) cpSync(copied, service.data, { recursive: true });
    await service.#launch('127.0.0.1:0');
    service.adminKey = readFileSync(join(service.data, 'admin.key'), 'utf8').trim();
    return service;
  }

  async #launch(listen: string): Promise<void> {
    const child = spawn(BINARY, ['serve', '--data', this.data, '--listen', listen, ...this.options], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#process = child;
    let log = '';
    child.stderr.on('data', (bytes: Buffer) => (log += bytes.toString()));
    this.#address = await new Promise<string>((found, failed) => {
      const timer = setTimeout(() => failed(new Error(`the service does not start:\n${log}`)), START_MAX_MS);
      child.once('exit', () => failed(new Error(`the service ended:\n${log}`)));
      createInterface(child.stdout).on('line', (line) => {
        const address = /listening on (\S+)/.exec(line)?.[1];
        if (address === undefined) return;
        clearTimeout(timer);
        found(address);
      });
    });
    if (SLOW_MS === 0) {
      this.url = this.#address;
    } else if (this.#slow === null) {
      const { url, server } = await proxy(this.#address, '/', () => Math.random() * SLOW_MS);
      this.url = url.replace(/\/$/, '');
      this.#slow = server;
    }
  }

  /** Shuts down the service as an operator would, and waits for its exit. */
  async end(): Promise<void> {
    const child = this.#process;
    if (child?.exitCode !== null) return;
    child.removeAllListeners('exit');
    const closed = new Promise((done) => child.once('close', done));
    child.kill('SIGTERM');
    await closed;
    this.#process = null;
  }

  /** Restarts the service on the same port and data, with additional options. */
  async again(...options: string[]): Promise<void> {
    this.options = [...this.options, ...options];
    await this.#launch(new URL(this.#address).host);
  }

  async remove(): Promise<void> {
    await this.end();
    this.#slow?.close();
    rmSync(this.data, { recursive: true, force: true });
  }

  /** Calls an operation as the operator and returns the response body. */
  async call<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    key = this.adminKey,
  ): Promise<T> {
    const answer = await fetch(`${this.url}/${path}`, {
      method,
      headers: {
        Authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return JSON.parse(text) as T;
  }

  /** Logs in a user with `PASSWORD` and returns the session cookie, such as `timenav=…`. */
  async session(userId: string): Promise<string> {
    const answer = await fetch(`${this.url}/v1/login`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ user_id: userId, password: PASSWORD }),
    });
    const [cookie] = answer.headers.getSetCookie();
    if (cookie === undefined) throw new Error(`login of ${userId}: ${answer.status} ${await answer.text()}`);
    return cookie.split(';')[0]!;
  }

  /** Creates a timeline with these events. */
  async timeline(timelineId: string, ...events: Record<string, unknown>[]): Promise<void> {
    await this.call('POST', 'timelines', { timeline_id: timelineId });
    if (events.length > 0) await this.call('POST', `v1/events?timeline_id=${timelineId}`, events);
  }

  /** Creates a user, optionally an operator, who can log in with `PASSWORD`. */
  async user(userId: string, operator = false): Promise<void> {
    await this.call('POST', 'v1/users', { user_id: userId, operator });
    await this.call('POST', 'v1/set-password', { user_id: userId, password: PASSWORD });
  }
}

/**
 * Serves a service under a path prefix, as a reverse proxy would. Returns the URL of the prefix. `slowMs` returns the
 * delay of each request and of its response.
 */
export function underPrefix(
  service: Service,
  prefix: string,
  slowMs: (url: string) => number = () => 0,
): Promise<{ url: string; server: Server }> {
  return proxy(service.url, prefix, slowMs);
}

/**
 * Forwards requests under a path prefix, and delays requests and responses individually, so that they may be reordered.
 */
async function proxy(
  address: string,
  prefix: string,
  slowMs: (url: string) => number,
): Promise<{ url: string; server: Server }> {
  const target = new URL(address);
  const server = createServer((from, to) => {
    if (!from.url?.startsWith(prefix)) {
      to.writeHead(404).end();
      return;
    }
    const url = from.url;
    const after = (then: () => void): void => {
      const ms = slowMs(url);
      if (ms === 0) then();
      else setTimeout(then, ms);
    };
    const passed = request(
      {
        host: target.hostname,
        port: target.port,
        method: from.method,
        path: from.url.slice(prefix.length - 1),
        headers: from.headers,
      },
      (answer) =>
        after(() => {
          to.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(to);
        }),
    );
    passed.on('error', () => to.destroy());
    to.on('close', () => passed.destroy());
    after(() => from.pipe(passed));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${prefix}`, server };
}
