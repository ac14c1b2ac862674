/** Named links, stored per user in this browser. */
const KEY = 'timenav-views';
const SAVED_MAX = 50;
export const NAME_LENGTH_MAX = 60;

interface SavedView {
  user: string;
  name: string;
  hash: string;
}

class SavedViews {
  #all = $state.raw<readonly SavedView[]>(read(localStorage.getItem(KEY)));

  of(user: string | null): SavedView[] {
    return this.#all.filter((saved) => saved.user === user);
  }

  /** Saves a view. Replaces a view with the same name, and drops the oldest beyond `SAVED_MAX`. */
  save(view: SavedView): void {
    const others = this.#all.filter((saved) => saved.user !== view.user || saved.name !== view.name);
    this.#keep([view, ...others].slice(0, SAVED_MAX));
  }

  remove({ user, name }: SavedView): void {
    this.#keep(this.#all.filter((saved) => saved.user !== user || saved.name !== name));
  }

  #keep(all: readonly SavedView[]): void {
    this.#all = all;
    localStorage.setItem(KEY, JSON.stringify(all));
  }
}

/** Parses stored views. Drops invalid entries and links that lead outside the console. */
export function read(stored: string | null): SavedView[] {
  try {
    const all: unknown = JSON.parse(stored ?? '[]');
    return Array.isArray(all) ? all.filter(isSavedView) : [];
  } catch {
    return [];
  }
}

function isSavedView(saved: unknown): saved is SavedView {
  const { user, name, hash } = (saved ?? {}) as Record<string, unknown>;
  return typeof user === 'string' && typeof name === 'string' && typeof hash === 'string' && hash.startsWith('#/');
}

export const savedViews = new SavedViews();
