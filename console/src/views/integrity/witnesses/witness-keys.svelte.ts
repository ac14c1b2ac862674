/** The witness keys that a user trusts, as entered: stored in this browser per user. */
const KEY = 'timenav-witnesses';
const USERS_MAX = 20;
/** Enough for dozens of keys. Longer texts are not stored. */
const LENGTH_MAX = 16_384;

interface StoredKey {
  user: string;
  text: string;
}

class WitnessKeys {
  #all = $state.raw<readonly StoredKey[]>(read(localStorage.getItem(KEY)));

  of(user: string | null): string {
    return this.#all.find((item) => item.user === user)?.text ?? '';
  }

  /** Stores the text of a user and replaces the previous one. */
  keep(user: string | null, text: string): void {
    if (user === null || text.length > LENGTH_MAX) return;
    const others = this.#all.filter((item) => item.user !== user);
    this.#all = text.trim() === '' ? others : [{ user, text }, ...others].slice(0, USERS_MAX);
    localStorage.setItem(KEY, JSON.stringify(this.#all));
  }
}

/** Parses the stored keys. Invalid items are skipped. */
export function read(stored: string | null): StoredKey[] {
  try {
    const all: unknown = JSON.parse(stored ?? '[]');
    return Array.isArray(all) ? all.filter(isStoredKey) : [];
  } catch {
    return [];
  }
}

function isStoredKey(item: unknown): item is StoredKey {
  const { user, text } = (item ?? {}) as Record<string, unknown>;
  return typeof user === 'string' && typeof text === 'string';
}

export const witnessKeys = new WitnessKeys();
