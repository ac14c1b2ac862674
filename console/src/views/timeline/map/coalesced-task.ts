/**
 * Runs work to completion regardless of changes, then once more if something has changed. Restarting on each change
 * would never finish if changes are faster than the work.
 */
export class CoalescedTask {
  #work: (() => Promise<void>) | null = null;
  #isBusy = false;
  #isStale = false;

  /** Sets the work to run. Running work is not aborted here. */
  setTask(work: (() => Promise<void>) | null): void {
    this.#work = work;
    this.#isBusy = this.#isStale = false;
  }

  /** Runs the work, or schedules another run after the current one. */
  async run(): Promise<void> {
    const work = this.#work;
    if (work === null) return;
    if (this.#isBusy) {
      this.#isStale = true;
      return;
    }
    this.#isBusy = true;
    do {
      this.#isStale = false;
      await work();
      // The work was replaced in the meantime.
      if (work !== this.#work) return;
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- it may have been set while this waited
    } while (this.#isStale);
    this.#isBusy = false;
  }
}
