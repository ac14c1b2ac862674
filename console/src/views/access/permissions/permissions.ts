/** Three lists of users with the end of each permission, and the effect of changes. */
import type { Input } from '../../../lib/service/api';

const LISTS = ['read', 'write', 'admin'] as const;
export type List = (typeof LISTS)[number];
/** A moment of host time, or a duration from the time of saving. */
export type End = { at: string } | { in: string };
type Ends = Partial<Record<List, Record<string, End>>>;
/** Users without an end have the permission permanently. */
export type Permissions = Record<List, string[]> & { ends?: Ends };

/** Returns when a permission ends, or null if it is permanent or missing. */
export const endOf = (permissions: Permissions, list: List, user: string): End | null =>
  permissions.ends?.[list]?.[user] ?? null;

const isSame = (a: End | null, b: End | null): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Returns permissions with another end for a user. */
export function withEnd(permissions: Permissions, list: List, user: string, end: End | null): Permissions {
  const { [user]: _, ...others } = permissions.ends?.[list] ?? {};
  return { ...permissions, ends: { ...permissions.ends, [list]: end === null ? others : { ...others, [user]: end } } };
}

/** Returns permissions with another list. The ends of removed users are dropped. */
export function withList(permissions: Permissions, list: List, users: string[]): Permissions {
  const ends = Object.entries(permissions.ends?.[list] ?? {}).filter(([user]) => users.includes(user));
  return { ...permissions, [list]: users, ends: { ...permissions.ends, [list]: Object.fromEntries(ends) } };
}

/** Parses the permissions of the API. */
export function parsePermissions(
  answer: Record<List, string[]> & { expires_at?: Partial<Record<List, Record<string, string>>> | null },
): Permissions {
  const { read, write, admin, expires_at } = answer;
  const ends: Ends = {};
  for (const list of LISTS) {
    const given = Object.entries(expires_at?.[list] ?? {}).map(([user, at]) => [user, { at }] as const);
    if (given.length > 0) ends[list] = Object.fromEntries(given);
  }
  return { read, write, admin, ends };
}

/** Returns the highest role of a user: admin includes write, and write includes read. */
export function roleOf(permissions: Permissions, user: string): List | null {
  return [...LISTS].reverse().find((list) => permissions[list].includes(user)) ?? null;
}

/** Returns whether the timeline would have no permanent admin. */
export const lacksPermanentAdmin = (permissions: Permissions): boolean =>
  permissions.admin.every((user) => endOf(permissions, 'admin', user) !== null);

/** Returns all users of the lists, highest role first. */
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

/** Returns the lists whose ends matter. If all are permanent, only the highest role does. */
export function timed(permissions: Permissions, { user, role, also }: ReturnType<typeof people>[number]): List[] {
  const lists = [role, ...also];
  return lists.some((list) => endOf(permissions, list, user) !== null) ? lists : [role];
}

export interface Change {
  user: string;
  added: List[];
  removed: List[];
  /** Lists in which only the end changes. */
  moved: List[];
  before: List | null;
  after: List | null;
}

/** Returns the changes by user. */
export function changes(before: Permissions, after: Permissions): Change[] {
  const users = [
    ...new Set([...LISTS.flatMap((list) => before[list]), ...LISTS.flatMap((list) => after[list])]),
  ].sort();
  return users
    .map((user) => ({
      user,
      added: LISTS.filter((list) => after[list].includes(user) && !before[list].includes(user)),
      removed: LISTS.filter((list) => before[list].includes(user) && !after[list].includes(user)),
      moved: LISTS.filter(
        (list) =>
          after[list].includes(user) &&
          before[list].includes(user) &&
          !isSame(endOf(before, list, user), endOf(after, list, user)),
      ),
      before: roleOf(before, user),
      after: roleOf(after, user),
    }))
    .filter((change) => change.added.length + change.removed.length + change.moved.length > 0);
}

/** Describes a change. Operators keep all rights regardless of the lists. */
export function effect(change: Change, isOperator = false): string {
  const { before, after } = change;
  if (before === after) {
    if (change.added.length + change.removed.length === 0)
      return `has ${change.moved.join(' and ')} until another time`;
    const included = change.removed.length > 0 ? `, which includes ${change.removed.join(' and ')}` : '';
    return `still ${after ?? 'nothing'}${included}`;
  }
  if (before === null) return `gets ${after ?? 'nothing'}`;
  const words = after === null ? `loses ${before}` : `${before} becomes ${after}`;
  if (isOperator) return `${words}, but as an operator can still do everything`;
  return after === null ? `${words}, and can no longer see the timeline` : words;
}

/** Three-way merge: applies the changes from `base` to `mine` on top of `theirs`. */
export function merge(base: Permissions, mine: Permissions, theirs: Permissions): Permissions {
  const mergeList = (list: List): string[] => {
    const common = theirs[list].filter((user) => mine[list].includes(user) || !base[list].includes(user));
    return [...common, ...mine[list].filter((user) => !base[list].includes(user) && !theirs[list].includes(user))];
  };
  let merged: Permissions = { read: mergeList('read'), write: mergeList('write'), admin: mergeList('admin'), ends: {} };
  for (const list of LISTS) {
    for (const user of merged[list]) {
      const own = endOf(mine, list, user);
      const isOwn = mine[list].includes(user) && !isSame(own, endOf(base, list, user));
      const end = isOwn ? own : endOf(theirs, list, user);
      if (end !== null) merged = withEnd(merged, list, user, end);
    }
  }
  return merged;
}

type PermissionsInput = Input<'set_access_control'>['permissions'];

/** Returns only the differences. The service leaves other lists and ends unchanged. */
export function changed(before: Permissions, after: Permissions): PermissionsInput {
  const differs = (list: List): boolean =>
    before[list].length !== after[list].length || before[list].some((user) => !after[list].includes(user));
  const sent: PermissionsInput = Object.fromEntries(LISTS.filter(differs).map((list) => [list, after[list]]));
  for (const list of LISTS) {
    for (const user of after[list]) {
      const end = endOf(after, list, user);
      if (isSame(endOf(before, list, user), end)) continue;
      if (end !== null && 'in' in end)
        sent.expires_in = { ...sent.expires_in, [list]: { ...sent.expires_in?.[list], [user]: end.in } };
      else sent.expires_at = { ...sent.expires_at, [list]: { ...sent.expires_at?.[list], [user]: end?.at ?? null } };
    }
  }
  return sent;
}
