/**
 * Which files are wanted and did not come: the service is away, or another build took its place, whose files have other
 * names. Browsers keep halves of what failed, so that only loading the page anew is sure to help.
 */
class Unloaded {
  /** Whether the page lacks something that it wants. */
  isAny = $state(false);
  #files = new Set<unknown>();

  note(file: unknown, isThere: boolean): void {
    if (isThere) this.#files.delete(file);
    else this.#files.add(file);
    this.isAny = this.#files.size > 0;
  }

  /** Another view does not want what the one before it did. */
  forget(): void {
    this.#files.clear();
    this.isAny = false;
  }
}

export const unloaded = new Unloaded();
