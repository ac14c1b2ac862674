/** A check that takes long: whether it is running, was canceled or failed. Running it again cancels it first. */
import { isAborted } from '../../lib/service/api';

export class CheckRun {
  error = $state<unknown>(null);
  isRunning = $state(false);
  isCancelled = $state(false);
  #request: AbortController | null = null;

  protected async start(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    this.cancel();
    const request = new AbortController();
    this.#request = request;
    this.error = null;
    this.isRunning = true;
    this.isCancelled = false;
    try {
      await work(request.signal);
    } catch (error) {
      if (this.#request !== request) return;
      if (isAborted(error)) this.isCancelled = true;
      else this.error = error;
    }
    if (this.#request === request) this.isRunning = false;
  }

  cancel(): void {
    this.#request?.abort();
  }
}
