/**
 * Confirms clock changes to the service. It runs independently of the listeners, so the next change never waits for it.
 */
import * as host from './host-time.js';
import { ApiError } from './errors.js';
import type { Settings } from './settings.js';
import { refusal } from './transport.js';

/** Delay before a confirmation is retried, unless a newer change needs confirmation. */
const RETRY_MS = 1_000;

interface Applied {
  follower_id: string;
  generation: number;
  timeline_id?: string;
}

/** Confirms the newest change that it was given. */
export class Confirming {
  readonly #settings: Settings;
  readonly #isFinal: (httpStatus: number) => boolean;
  readonly #closing: AbortSignal;
  #newest: Applied | null = null;
  #isAtWork = false;

  constructor(settings: Settings, isFinal: (httpStatus: number) => boolean, closing: AbortSignal) {
    this.#settings = settings;
    this.#isFinal = isFinal;
    this.#closing = closing;
  }

  /** Schedules the confirmation of a change. */
  applied(applied: Applied): void {
    this.#newest = applied;
    if (!this.#isAtWork) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isAtWork = true;
    while (this.#newest !== null && !this.#closing.aborted) {
      const newest = this.#newest;
      this.#newest = null;
      const isDone = await this.#confirm(newest).catch(() => false);
      if (isDone) continue;
      await host.pause(RETRY_MS, this.#closing);
      this.#newest ??= newest;
    }
    this.#isAtWork = false;
  }

  /** Returns whether no retry is needed. If the stream has ended, its successor reports which change to confirm. */
  async #confirm(applied: Applied): Promise<boolean> {
    const signal = AbortSignal.any([this.#closing, AbortSignal.timeout(this.#settings.timeoutMs)]);
    const headers = { Accept: 'application/json', 'Content-Type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify(applied), signal };
    const response = await this.#settings.send('/v1/followers/confirm', init);
    if (response.ok) {
      await response.body?.cancel();
      return true;
    }
    const failure = await refusal(response);
    return failure instanceof ApiError && this.#isFinal(failure.httpStatus);
  }
}
