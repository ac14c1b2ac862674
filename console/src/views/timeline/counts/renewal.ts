/** Which times changed, gathered until they are read anew: no more often than every so long. */
import type { Range } from '../sight.svelte';

/** While much changes, counts are renewed no more often. */
const RENEW_MS = 1_500;

export class Renewal {
  #timer: ReturnType<typeof setTimeout> | undefined;
  #due: Range | 'all' | null = null;

  /** `renew` reads a time anew; all of it where it gets null. */
  constructor(private readonly renew: (span: Range | null) => Promise<void>) {}

  /** Has a time read anew, soon; all of it where it is null. */
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
      // What changed meanwhile waits as long as the first.
      this.#timer = this.#due === null ? undefined : setTimeout(() => this.#now(), RENEW_MS);
    });
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}
