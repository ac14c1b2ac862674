/** Three lists of users, and what a change of them does to each. */
const LISTS = ['read', 'write', 'admin'] as const;
export type List = (typeof LISTS)[number];
export type Permissions = Record<List, string[]>;

/** Returns the most that a user may do: admin includes write, which includes read. */
export function roleOf(permissions: Permissions, user: string): List | null {
  return [...LISTS].reverse().find((list) => permissions[list].includes(user)) ?? null;
}

/** Returns everybody who is named, those who may do most first. */
export function people(permissions: Permissions): { user: string; role: List; also: List[] }[] {
  const users = [...new Set(LISTS.flatMap((list) => permissions[list]))].sort();
  return users
    .flatMap((user) => {
      const role = roleOf(permissions, user);
      if (role === null) return [];
      return [{ user, role, also: LISTS.filter((list) => list !== role && permissions[list].includes(user)) }];
    })
    .sort((a, b) => LISTS.indexOf(b.role) - LISTS.indexOf(a.role));
}

export interface Change {
  user: string;
  added: List[];
  removed: List[];
  before: List | null;
  after: List | null;
}

/** Returns what differs, user by user. */
export function changes(before: Permissions, after: Permissions): Change[] {
  const users = [
    ...new Set([...LISTS.flatMap((list) => before[list]), ...LISTS.flatMap((list) => after[list])]),
  ].sort();
  return users
    .map((user) => ({
      user,
      added: LISTS.filter((list) => after[list].includes(user) && !before[list].includes(user)),
      removed: LISTS.filter((list) => before[list].includes(user) && !after[list].includes(user)),
      before: roleOf(before, user),
      after: roleOf(after, user),
    }))
    .filter((change) => change.added.length + change.removed.length > 0);
}

/** Says a change in words. An operator keeps every right, whatever the lists say. */
export function effect(change: Change, isOperator = false): string {
  const { before, after } = change;
  if (before === after) {
    const included = change.removed.length > 0 ? `, which includes ${change.removed.join(' and ')}` : '';
    return `still ${after ?? 'nothing'}${included}`;
  }
  if (before === null) return `gets ${after ?? 'nothing'}`;
  const words = after === null ? `loses ${before}` : `${before} becomes ${after}`;
  if (isOperator) return `${words}, but as an operator can still do everything`;
  return after === null ? `${words}, and can no longer see the timeline` : words;
}

/** Puts what one changed from `base` upon what others made of it meanwhile. */
export function merge(base: Permissions, mine: Permissions, theirs: Permissions): Permissions {
  const one = (list: List): string[] => {
    const kept = theirs[list].filter((user) => mine[list].includes(user) || !base[list].includes(user));
    return [...kept, ...mine[list].filter((user) => !base[list].includes(user) && !theirs[list].includes(user))];
  };
  return { read: one('read'), write: one('write'), admin: one('admin') };
}

/** Returns only the lists that differ: a list that is left out stays as it is. */
export function changedLists(before: Permissions, after: Permissions): Partial<Permissions> {
  const differs = (list: List): boolean =>
    before[list].length !== after[list].length || before[list].some((user) => !after[list].includes(user));
  return Object.fromEntries(LISTS.filter(differs).map((list) => [list, after[list]]));
}
