/** Follows the advance that moves a clock, and keeps its receipt. */
import { untrack } from 'svelte';
import { isAborted, service } from '../service/api';
import type { LiveClock } from '../live/clock.svelte';
import { readAdvance, type AdvanceReceipt } from './timers';

/** Long-poll duration in host time. The end of an advance is returned immediately. */
const WAIT = '3s';
/** Delay after an error or an early response. */
const REST_MS = 1_000;
const FAILURES_MAX = 5;

export class AdvanceMonitor {
  /** Latest state of the advance; null if there was none since the page was opened. */
  receipt = $state.raw<AdvanceReceipt | null>(null);
  isStopping = $state(false);
  error = $state.raw<unknown>(null);
  #abort = new AbortController();
  #following: string | null = null;

  constructor(
    private readonly timeline: string,
    private readonly clock: () => LiveClock | null,
  ) {
    $effect(() => () => this.#abort.abort());
    // Another page, program or user may have started the advance.
    $effect(() => {
      const id = this.clock()?.body?.advance?.advance_id;
      if (id !== undefined) untrack(() => void this.#follow(id));
    });
  }

  get isRunning(): boolean {
    return this.receipt?.state === 'running';
  }

  /** Applies the response to a clock move. */
  take(settled: AdvanceReceipt): void {
    this.error = null;
    this.receipt = settled;
    if (settled.state === 'running') void this.#follow(settled.advance_id);
  }

  /** Dismisses the receipt. */
  dismiss(): void {
    if (!this.isRunning) this.receipt = null;
  }

  /** Stops the advance. The clock stays paused at its current instant. Does not wait for open firings. */
  async stop(): Promise<void> {
    this.isStopping = true;
    this.error = null;
    try {
      const body = await service.pauseTime({ timeline_id: this.timeline });
      this.clock()?.take(body);
    } catch (error) {
      this.error = error;
    }
    this.isStopping = false;
  }

  async #follow(advanceId: string): Promise<void> {
    if (this.#following === advanceId) return;
    this.#abort.abort();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    this.#following = advanceId;
    let failures = 0;
    while (!signal.aborted && failures < FAILURES_MAX) {
      const began = performance.now();
      try {
        const settled = await readAdvance(
          this.timeline,
          advanceId,
          failures === 0 && this.#isNew(advanceId) ? '0s' : WAIT,
          signal,
        );
        this.receipt = settled;
        this.#show(settled);
        this.error = null;
        failures = 0;
        if (settled.state !== 'running') break;
      } catch (error) {
        if (isAborted(error)) break;
        failures += 1;
        this.error = error;
      }
      const rest = REST_MS - (performance.now() - began);
      if (rest > 0) await new Promise((done) => setTimeout(done, rest));
    }
    if (this.#following === advanceId) this.#following = null;
  }

  /** Shows the current instant: the stream reports only start and end of an advance. */
  #show({ state, advance_id, reached, step }: AdvanceReceipt): void {
    const clock = this.clock();
    const body = clock?.body;
    if (!clock || state !== 'running' || body?.advance?.advance_id !== advance_id || step <= body.advance.step) return;
    clock.take({ ...body, current_time: reached, origin_virtual: reached, advance: { ...body.advance, step } });
  }

  /** Whether no receipt of this advance is shown yet. */
  #isNew(advanceId: string): boolean {
    return this.receipt?.advance_id !== advanceId;
  }
}
