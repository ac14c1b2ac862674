/**
 * Files that failed to load: the service is unreachable, or a new build has different file names. Browsers cache failed
 * module loads, so only a page reload recovers reliably.
 */
class MissingFiles {
  /** Whether a needed file is missing. */
  isAny = $state(false);
  #files = new Set<unknown>();

  note(file: unknown, isThere: boolean): void {
    if (isThere) this.#files.delete(file);
    else this.#files.add(file);
    this.isAny = this.#files.size > 0;
  }

  /** The next view does not need the files of the previous one. */
  forget(): void {
    this.#files.clear();
    this.isAny = false;
  }
}

export const missingFiles = new MissingFiles();
