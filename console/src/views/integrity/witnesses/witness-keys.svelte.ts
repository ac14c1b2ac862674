/** The keys of witnesses that somebody trusts, as they entered them: kept in this browser for each user. */
const KEY = 'timenav-witnesses';
const USERS_MAX = 20;
/** Longer than some dozens of keys. What is longer is not kept. */
const LENGTH_MAX = 16_384;

interface StoredKey {
  user: string;
  text: string;
}

class WitnessKeys {
  #all = $state.raw<readonly StoredKey[]>(read(localStorage.getItem(KEY)));

  of(user: string | null): string {
    return this.#all.find((one) => one.user === user)?.text ?? '';
  }

  /** Keeps what a user entered, and forgets what that replaces. */
  keep(user: string | null, text: string): void {
    if (user === null || text.length > LENGTH_MAX) return;
    const others = this.#all.filter((one) => one.user !== user);
    this.#all = text.trim() === '' ? others : [{ user, text }, ...others].slice(0, USERS_MAX);
    localStorage.setItem(KEY, JSON.stringify(this.#all));
  }
}

/** Reads what was kept. What is no such thing is left out. */
export function read(stored: string | null): StoredKey[] {
  try {
    const all: unknown = JSON.parse(stored ?? '[]');
    return Array.isArray(all) ? all.filter(isStoredKey) : [];
  } catch {
    return [];
  }
}

function isStoredKey(one: unknown): one is StoredKey {
  const { user, text } = (one ?? {}) as Record<string, unknown>;
  return typeof user === 'string' && typeof text === 'string';
}

export const witnessKeys = new WitnessKeys();
