/** Schedules a redraw for the next animation frame. Repeated requests before that frame draw once. */
export class NextPicture {
  #frame = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #drawnAt = -Infinity;

  constructor(readonly draw: () => void) {}

  /** Requests a redraw, at least `apartMs` after the previous one. */
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
