/** The advance that moves a clock, while it goes on, and its receipt afterwards. */
import { untrack } from 'svelte';
import { isAborted, service } from '../service/api';
import type { LiveClock } from '../live/clock.svelte';
import { readAdvance, type Settled } from './timers';

/** How it is doing is asked so often, in host time; its end is told at once. */
const WAIT = '3s';
/** After a refusal, or where an answer came early, the next question waits. */
const REST_MS = 1_000;
const FAILURES_MAX = 5;

export class Advancing {
  /** What is known of it; null where there was none since the page was opened. */
  receipt = $state.raw<Settled | null>(null);
  isStopping = $state(false);
  error = $state.raw<unknown>(null);
  #asking = new AbortController();
  #following: string | null = null;

  constructor(
    private readonly timeline: string,
    private readonly clock: () => LiveClock | null,
  ) {
    // Another page, a program or a colleague may have begun it: the clock tells.
    $effect(() => {
      const id = this.clock()?.body?.advance?.advance_id;
      if (id !== undefined) untrack(() => void this.#follow(id));
    });
  }

  get isRunning(): boolean {
    return this.receipt?.state === 'running';
  }

  /** Takes over what the answer to a move says. */
  take(settled: Settled): void {
    this.error = null;
    this.receipt = settled;
    if (settled.state === 'running') void this.#follow(settled.advance_id);
  }

  /** Puts the receipt away. */
  dismiss(): void {
    if (!this.isRunning) this.receipt = null;
  }

  /** Ends it where it is; the clock stays paused there. Waits for nothing that is under way. */
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
    this.#asking.abort();
    this.#asking = new AbortController();
    const { signal } = this.#asking;
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

  /** Shows the instant that it stands at: the stream of a timeline tells beginning and end, and no step. */
  #show({ state, advance_id, reached, step }: Settled): void {
    const clock = this.clock();
    const body = clock?.body;
    if (!clock || state !== 'running' || body?.advance?.advance_id !== advance_id || step <= body.advance.step) return;
    clock.take({ ...body, current_time: reached, origin_virtual: reached, advance: { ...body.advance, step } });
  }

  /** Whether nothing of it is shown yet. */
  #isNew(advanceId: string): boolean {
    return this.receipt?.advance_id !== advanceId;
  }

  close(): void {
    this.#asking.abort();
  }
}
