/** What is read from the service for a view: its body, or why there is none, and whether it is under way. */
import { isAborted } from './api';

export class Reading<T> {
  body = $state.raw<T | null>(null);
  error = $state.raw<unknown>(null);
  isBusy = $state(false);
  #abort: AbortController | null = null;

  constructor(private readonly ask: (signal: AbortSignal) => Promise<T>) {}

  /** Asks, or asks anew; what was asked before is given up. What is there stays until the answer comes. */
  async read(): Promise<void> {
    this.#abort?.abort();
    const abort = new AbortController();
    this.#abort = abort;
    this.isBusy = true;
    try {
      const body = await this.ask(abort.signal);
      if (this.#abort !== abort) return;
      this.body = body;
      this.error = null;
    } catch (error) {
      if (this.#abort !== abort || isAborted(error)) return;
      this.error = error;
    }
    this.isBusy = false;
  }

  /** Gives up what is under way. */
  stop(): void {
    this.#abort?.abort();
    this.#abort = null;
    this.isBusy = false;
  }
}
