import { plain } from '../text/words';

/** Short confirmations that disappear after a while. Errors belong next to their cause instead. */
interface Toast {
  id: number;
  text: string;
}

const VISIBLE_MS = 5_000;

class Toasts {
  list = $state<Toast[]>([]);
  #next = 1;

  say(text: string): void {
    const id = this.#next++;
    this.list = [...this.list.slice(-2), { id, text: plain(text) }];
    setTimeout(() => this.drop(id), VISIBLE_MS);
  }

  drop(id: number): void {
    this.list = this.list.filter((toast) => toast.id !== id);
  }
}

export const toasts = new Toasts();
