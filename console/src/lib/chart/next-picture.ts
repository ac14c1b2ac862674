/** What is drawn in the browser's next picture: once, however often it is asked for until then. */
export class NextPicture {
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #drawnAt = -Infinity;

  constructor(readonly draw: () => void) {}

  /** Draws next; at least `apartMs` after what was drawn before, where other things go first. */
  ask(apartMs = 0): void {
    if (this.#frame !== 0) return;
    clearTimeout(this.#timer);
    const wait = this.#drawnAt + apartMs - performance.now();
    if (wait > 0) this.#timer = setTimeout(() => this.#next(), wait);
    else this.#next();
  }

  stop(): void {
    clearTimeout(this.#timer);
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
  }

  #next(): void {
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0;
      this.#drawnAt = performance.now();
      this.draw();
    });
  }
}
