/** Tracks which rows of a list are visible, so that names are requested only for those. */
import type { Attachment } from 'svelte/attachments';

const RESTED_MS = 250;

export class VisibleRows {
  readonly #keys = new Map<Element, string>();
  readonly #visible = new Set<string>();
  #observer: IntersectionObserver | null = null;
  #rested: ReturnType<typeof setTimeout> | undefined;

  /** `changed` is called once scrolling has stopped. */
  constructor(private readonly changed: () => void) {}

  has(key: string): boolean {
    return this.#visible.has(key);
  }

  /** Observes a row while it is mounted. */
  row(key: string): Attachment {
    return (element) => {
      this.#observer ??= new IntersectionObserver((all) => this.#note(all));
      this.#keys.set(element, key);
      this.#observer.observe(element);
      return () => {
        this.#observer?.unobserve(element);
        this.#keys.delete(element);
        this.#visible.delete(key);
      };
    };
  }

  close(): void {
    clearTimeout(this.#rested);
    this.#observer?.disconnect();
  }

  #note(all: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of all) {
      const key = this.#keys.get(target);
      if (key === undefined) continue;
      if (isIntersecting) this.#visible.add(key);
      else this.#visible.delete(key);
    }
    clearTimeout(this.#rested);
    this.#rested = setTimeout(this.changed, RESTED_MS);
  }
}
