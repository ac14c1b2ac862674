/** The keys of witnesses that somebody trusts, as they entered them: kept in this browser for each user. */
const KEY = 'timenav-witnesses';
const USERS_MAX = 20;
/** Longer than some dozens of keys. What is longer is not kept. */
const LENGTH_MAX = 16_384;

interface Kept {
  user: string;
  text: string;
}

class WitnessKeys {
  #all = $state.raw<readonly Kept[]>(read(localStorage.getItem(KEY)));

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
export function read(kept: string | null): Kept[] {
  try {
    const all: unknown = JSON.parse(kept ?? '[]');
    return Array.isArray(all) ? all.filter(isKept) : [];
  } catch {
    return [];
  }
}

function isKept(one: unknown): one is Kept {
  const { user, text } = (one ?? {}) as Record<string, unknown>;
  return typeof user === 'string' && typeof text === 'string';
}

export const witnessKeys = new WitnessKeys();
