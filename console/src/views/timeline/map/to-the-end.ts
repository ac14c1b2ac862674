/**
 * Work that is done to its end, however often something changes meanwhile, and then once more. Giving it up with each
 * change would never end where changes come faster than the work is done.
 */
export class ToTheEnd {
  #work: (() => Promise<void>) | null = null;
  #isBusy = false;
  #isStale = false;

  /** From now on this is the work; what was under way is somebody else's to give up. */
  become(work: (() => Promise<void>) | null): void {
    this.#work = work;
    this.#isBusy = this.#isStale = false;
  }

  /** Does it, or once more after what is under way. */
  async again(): Promise<void> {
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
      // There may be other work by now, which looks after itself.
      if (work !== this.#work) return;
      // eslint-disable-next-line @typescript-eslint/no-unnecessary-condition -- it may have been set while this waited
    } while (this.#isStale);
    this.#isBusy = false;
  }
}
