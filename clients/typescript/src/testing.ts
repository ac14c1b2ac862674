/// <reference lib="esnext.disposable" preserve="true" />
/** Test utilities for Node: a clock with controls, and a service. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Client } from './client.js';
import { FiringsFailedError, TimenavError } from './errors.js';
import type { Reading } from './follower.js';
import * as host from './host-time.js';
import { Instant, type When } from './instant.js';
import type { Handler, Listener } from './listener.js';
import { receiptOf, type Receipt } from './receipt.js';
import type { Schema } from './operation-types.js';
import type { VirtualClock, WaitOptions } from './virtual-clock.js';

const START_MS_MAX = 30_000;
const WAIT_MS_MAX = 10_000;

/** A service process on a free local port, with its data in a temporary folder. Stop it with `stop`. */
export class Service {
  baseUrl = '';
  #port = 0;
  #process: ChildProcess | null = null;

  private constructor(
    readonly program: string,
    readonly folder: string,
  ) {}

  /** Starts a service with `program`, which defaults to `TIMENAV_BIN` or else `timenav`. */
  static async start(program?: string): Promise<Service> {
    const name = program ?? process.env.TIMENAV_BIN ?? 'timenav';
    const service = new Service(name, await mkdtemp(join(tmpdir(), 'timenav-')));
    try {
      await service.restart();
    } catch (error) {
      await service.stop();
      throw error;
    }
    return service;
  }

  /** Starts the service again after `kill`, with the same port and data. */
  async restart(): Promise<void> {
    const data = join(this.folder, 'data');
    const log = await open(join(this.folder, 'log'), 'a');
    const environment = Object.fromEntries(
      Object.entries(process.env).filter(([name]) => !name.startsWith('TIMENAV_')),
    );
    const started = spawn(this.program, ['serve', '--listen', `127.0.0.1:${this.#port}`, '--data', data], {
      env: environment,
      stdio: ['ignore', 'pipe', log.fd],
    });
    this.#process = started;
    const failed = new Promise<string>((done) => {
      started.once('error', (error) => done(error.message));
      started.once('exit', () => done('the program ended'));
    });
    // The timeout kills the program, which ends the wait for its first line of output.
    const limit = host.startTimer(() => started.kill('SIGKILL'), START_MS_MAX);
    const line = await Promise.race([firstLine(started), failed]);
    host.stopTimer(limit);
    await log.close();
    const url = /^listening on (\S+)/.exec(line)?.[1];
    if (url === undefined) {
      const logText = await readFile(join(this.folder, 'log'), 'utf8').catch(() => '');
      throw new TimenavError(
        `${this.program} did not start (set TIMENAV_BIN to the path of the program): ${line} ${logText}`.trim(),
      );
    }
    this.baseUrl = url;
    this.#port = Number(new URL(url).port);
  }

  /** Returns the API key of the service's operator. */
  async apiKey(): Promise<string> {
    return (await readFile(join(this.folder, 'data/admin.key'), 'ascii')).trim();
  }

  /** Returns a client with the operator's API key. */
  async client(timelineId?: string): Promise<Client> {
    const apiKey = await this.apiKey();
    return new Client({ baseUrl: this.baseUrl, apiKey, ...(timelineId === undefined ? {} : { timelineId }) });
  }

  /** Ends the service but keeps its data. `SIGKILL` simulates a crash, and `SIGTERM` a stop by an operator. */
  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const ended = this.#process;
    this.#process = null;
    if (ended?.pid === undefined || ended.exitCode !== null || ended.signalCode !== null) return;
    const exited = new Promise((done) => ended.once('exit', done));
    ended.kill(signal);
    await exited;
  }

  /** Kills the service and removes its data. */
  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Stops the service at the end of a block that started it with `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}

async function firstLine(started: ChildProcess): Promise<string> {
  if (started.stdout === null) return 'the output of the program cannot be read';
  for await (const line of createInterface({ input: started.stdout })) {
    // Discard later output, so that a full pipe does not block the service.
    started.stdout.resume();
    return line;
  }
  return 'the program printed nothing';
}

/** A clock with controls for tests. Each control resolves when this clock shows the change. */
export class TestClock {
  /** The latest error of each failed handler, by firing id. */
  readonly #thrown = new Map<string, unknown>();

  private constructor(
    readonly client: Client,
    readonly clock: VirtualClock,
    readonly timelineId: string,
  ) {}

  /**
   * Creates a timeline named after a test, and opens its clock. If the test does not end the timeline, it expires.
   */
  static async create(client: Client, name: string): Promise<TestClock> {
    const slug = name
      .replace(/[^0-9A-Za-z]+/g, '-')
      .replace(/^-|-$/g, '')
      .slice(0, 80);
    const timelineId = `test-${slug}-${crypto.randomUUID().slice(0, 12)}`;
    await client.createTimeline({ timeline_id: timelineId, expires_in: '1h' });
    return new TestClock(client, await client.virtualClock(timelineId), timelineId);
  }

  /** Closes the clock and ends its timeline. */
  async end(): Promise<void> {
    this.clock.close();
    await this.client.endTimeline({ timeline_id: this.timelineId }).catch((error: unknown) => {
      // The test may have ended the timeline or stopped the service.
      if (!(error instanceof TimenavError)) throw error;
    });
  }

  /** Ends the timeline at the end of a block that created the clock with `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.end();
  }

  /** Returns the clock's reading. */
  now(): Instant {
    return this.clock.now();
  }

  /** Waits until the clock shows a moment. */
  until(when: When, options?: WaitOptions): Promise<Reading> {
    return this.clock.until(when, options);
  }

  /** Moves the clock to a moment. */
  async travel(when: When): Promise<Reading> {
    const destination = typeof when === 'string' ? when : String(Instant.of(when));
    return this.#waitFor(await this.client.travel({ destination_time: destination, timeline_id: this.timelineId }));
  }

  /** Moves the clock forward, such as by `12h`. */
  async fastForward(duration: string): Promise<Reading> {
    return this.#waitFor(await this.client.fastForward({ duration, timeline_id: this.timelineId }));
  }

  /** Moves the clock back. */
  async rewind(duration: string): Promise<Reading> {
    return this.#waitFor(await this.client.rewind({ duration, timeline_id: this.timelineId }));
  }

  /**
   * Moves the clock forward, and resolves to the receipt when this clock shows the change.
   *
   * If a handler of `on` failed, it rejects with the handler's error; for other failed firings, with
   * `FiringsFailedError`. With `allowFailedFirings`, it resolves to the receipt.
   */
  async advance(by: string | { to: When }, options: { allowFailedFirings?: boolean } = {}): Promise<Receipt> {
    const receipt = await this.client.advance(by, { timelineId: this.timelineId, allowFailedFirings: true });
    await this.#waitFor(await this.client.clock({ timeline_id: this.timelineId }));
    if (options.allowFailedFirings !== true) this.#throwFailed(receipt);
    this.#thrown.clear();
    return receipt;
  }

  /**
   * Passes firings of a queue to a handler, until the listener is closed.
   *
   * If the handler fails, the control that moved the clock to the firing rejects with its error. If no control waited
   * for the handler, `throwFailure` throws it.
   */
  on(queue: string, handler: Handler): Promise<Listener> {
    const recorded: Handler = async (firing) => {
      try {
        await handler(firing);
        // Clear the error of an earlier attempt.
        this.#thrown.delete(firing.id);
      } catch (error) {
        this.#thrown.set(firing.id, error);
        throw error;
      }
    };
    return this.client.on(queue, recorded, { timelineId: this.timelineId });
  }

  /** Throws the error of a failed handler, if it was not thrown yet. Fixtures call it at the end of a test. */
  throwFailure(): void {
    for (const error of this.#thrown.values()) {
      this.#thrown.clear();
      throw error;
    }
  }

  /** Sets the rate of the clock, in virtual seconds per host second. */
  async setRate(rate: number): Promise<Reading> {
    return this.#waitFor(await this.client.setRate({ rate, timeline_id: this.timelineId }));
  }

  /** Pauses the clock. */
  async pause(): Promise<Reading> {
    return this.#waitFor(await this.client.pauseTime({ timeline_id: this.timelineId }));
  }

  /** Resumes the clock. */
  async resume(): Promise<Reading> {
    return this.#waitFor(await this.client.resumeTime({ timeline_id: this.timelineId }));
  }

  /** Waits until the change has arrived on the stream, so that the next read of the test shows it. */
  async #waitFor(changed: Schema<'ClockBody'>): Promise<Reading> {
    const reading = await this.clock.untilGeneration(changed.generation, { timeoutMs: WAIT_MS_MAX });
    if (changed.receipt) this.#throwFailed(receiptOf(changed.receipt));
    return reading;
  }

  /** If firings failed, throws the error of a handler that this clock ran, or else `FiringsFailedError`. */
  #throwFailed(receipt: Receipt): void {
    if (receipt.failed === 0) return;
    const failed = receipt.firings.find(({ state, firing_id }) => state === 'failed' && this.#thrown.has(firing_id));
    if (failed) {
      const error = this.#thrown.get(failed.firing_id);
      this.#thrown.clear();
      throw error;
    }
    this.throwFailure();
    throw new FiringsFailedError(receipt);
  }
}
