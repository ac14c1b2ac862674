/**
 * Confirms clock changes to the service in the background, so that reading the stream never waits for it.
 */
import * as host from './host-time.js';
import { isFinal } from './retry.js';
import type { Settings } from './settings.js';
import { rejection } from './transport.js';

/** The delay before a confirmation is retried. */
const RETRY_MS = 1_000;

interface Confirmation {
  follower_id: string;
  generation: number;
  timeline_id?: string;
}

/** Confirms the newest change. */
export class Confirmer {
  readonly #settings: Settings;
  readonly #closing: AbortSignal;
  #newest: Confirmation | null = null;
  #isRunning = false;

  constructor(settings: Settings, closing: AbortSignal) {
    this.#settings = settings;
    this.#closing = closing;
  }

  /** Schedules the confirmation of a change. */
  schedule(confirmation: Confirmation): void {
    this.#newest = confirmation;
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#newest !== null && !this.#closing.aborted) {
      const newest = this.#newest;
      this.#newest = null;
      const isDone = await this.#confirm(newest).catch(() => false);
      if (isDone) continue;
      await host.pause(RETRY_MS, this.#closing);
      this.#newest ??= newest;
    }
    this.#isRunning = false;
  }

  /**
   * Returns whether no retry is needed. A permanent rejection means that the stream has ended. The next stream reports
   * which change to confirm.
   */
  async #confirm(confirmation: Confirmation): Promise<boolean> {
    const signal = AbortSignal.any([this.#closing, AbortSignal.timeout(this.#settings.timeoutMs)]);
    const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(confirmation), signal };
    const response = await this.#settings.send('/v1/followers/confirm', init);
    if (response.ok) {
      await response.body?.cancel();
      return true;
    }
    return isFinal(await rejection(response));
  }
}
