/**
 * A read request of a view: its response, its error and whether it is pending. Must be created during component
 * initialization; stops with the component.
 */
import { isAborted } from './api';

export class Reading<T> {
  body = $state.raw<T | null>(null);
  error = $state.raw<unknown>(null);
  isBusy = $state(false);
  #abort: AbortController | null = null;

  constructor(private readonly ask: (signal: AbortSignal) => Promise<T>) {
    $effect(() => () => this.stop());
  }

  /** Sends the request again and aborts a pending one. Keeps the current body until the response arrives. */
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

  /** Aborts the pending request. */
  stop(): void {
    this.#abort?.abort();
    this.#abort = null;
    this.isBusy = false;
  }
}
