import { plain } from '../text/words';

/**
 * Short sentences about what was done; they go away by themselves. Errors do not belong here but beside their cause.
 */
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
