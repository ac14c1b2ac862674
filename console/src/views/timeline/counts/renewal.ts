/** Collects changed ranges and reloads them with a limited frequency. */
import type { Range } from '../viewport.svelte';

/** Minimum interval between reloads, in milliseconds. */
const RENEW_MS = 1_500;

export class Renewal {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due: Range | 'all' | null = null;

  /** `renew` reloads a range; everything for null. */
  constructor(private readonly renew: (span: Range | null) => Promise<void>) {}

  /** Schedules a reload of a range; of everything for null. */
  add(span: Range | null): void {
    const before = this.#due;
    if (span === null || before === 'all') this.#due = 'all';
    else if (before === null) this.#due = span;
    else {
      const from = before.from < span.from ? before.from : span.from;
      this.#due = { from, to: before.to > span.to ? before.to : span.to };
    }
    this.#timer ??= setTimeout(() => this.#now(), RENEW_MS);
  }

  #now(): void {
    const part = this.#due;
    this.#due = null;
    void this.renew(part === 'all' ? null : part).finally(() => {
      // Changes during a reload wait for the next interval.
      this.#timer = this.#due === null ? undefined : setTimeout(() => this.#now(), RENEW_MS);
    });
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
