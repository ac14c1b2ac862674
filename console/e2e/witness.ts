/** A running witness with its own data folder. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { BINARY } from './service';

export class Witness {
  private constructor(
    readonly key: string,
    private readonly url: string,
    private readonly process: ChildProcess,
    private readonly data: string,
  ) {}

  /** Starts a witness of a ledger, and waits until it has printed its key and URL. */
  static async start(name: string, log: string): Promise<Witness> {
    const data = mkdtempSync(join(tmpdir(), 'timenav-e2e-witness-'));
    const options = ['--data', data, '--listen', '127.0.0.1:0', '--name', name, '--log', log];
    const child = spawn(BINARY, ['witness', ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()));
    return new Promise((started, failed) => {
      child.once('exit', () => failed(new Error(`the witness ended:\n${output}`)));
      let key = '';
      createInterface(child.stdout).on('line', (line) => {
        key = /^witness key (\S+)$/.exec(line)?.[1] ?? key;
        const url = /listening on (\S+)/.exec(line)?.[1];
        if (url !== undefined) started(new Witness(key, url, child, data));
      });
    });
  }

  /** The service option that configures this witness. */
  get option(): string {
    return `${this.key}=${this.url}`;
  }

  /** Stops the witness and deletes its data. */
  async remove(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const closed = new Promise((done) => this.process.once('close', done));
      this.process.kill('SIGTERM');
      await closed;
    }
    rmSync(this.data, { recursive: true, force: true });
  }
}
