/** What the access view asks the service for, and in which words it tells about it. */
import { type Answer, readJson, rejection, send, service } from '../../lib/service/api';
import { readLimits } from '../../lib/service/limits';
import type { RestrictionLevel } from '../../lib/session/session.svelte';
import { parsePermissions, type Permissions } from './permissions/permissions';

export interface User {
  user_id: string;
  operator: boolean;
  restriction_level: RestrictionLevel;
  created_at: string;
}

export interface ApiKey {
  key_id: string;
  user_id: string;
  timeline_id: string;
  label: string;
  created_at: string;
  expires_at?: string | null;
  revoked_at?: string | null;
  scopes?: string[] | null;
}

export interface SessionRow {
  session_id: string;
  created_at: string;
  last_seen_at: string;
  expires_at: string;
  is_current: boolean;
}

const PAGE_ITEMS = 1_000;
/** Pages that are read of a list. More than anybody looks through. */
const PAGES_MAX = 20;

/** Which part of a list is asked for. */
interface Part {
  limit: number;
  cursor?: string;
}

/** Reads a list page after page. */
async function readAll<Page extends { next_cursor?: string | null; has_more: boolean }>(
  read: (part: Part) => Promise<Page>,
): Promise<Page[]> {
  const pages: Page[] = [];
  let cursor: string | null = null;
  for (let number = 0; number < PAGES_MAX; number += 1) {
    const page: Page = await read({ limit: PAGE_ITEMS, ...(cursor === null ? {} : { cursor }) });
    pages.push(page);
    cursor = page.has_more ? (page.next_cursor ?? null) : null;
    if (cursor === null) break;
  }
  return pages;
}

export async function readUsers(signal?: AbortSignal): Promise<User[]> {
  return (await readAll((part) => service.users(part, { signal }))).flatMap((page) => page.users as User[]);
}

/** Returns keys of a user, newest first, those that no longer work among them. */
export async function readKeys(query: { user_id?: string }, signal: AbortSignal): Promise<ApiKey[]> {
  const pages = await readAll((part) => service.apiKeys({ ...query, ...part }, { signal }));
  return pages.flatMap((page) => page.api_keys);
}

/** Permissions with the tag that a change of them is bound to. */
export interface Tagged {
  permissions: Permissions;
  tag: string;
}

export async function readPermissions(timeline: string, signal: AbortSignal): Promise<Tagged> {
  const answer = await send('GET', 'v1/access-control', { query: { timeline_id: timeline }, signal });
  if (!answer.ok) throw await rejection(answer);
  const { permissions } = await readJson<Answer<'access_control'>>(answer, signal);
  return { permissions: parsePermissions(permissions), tag: answer.headers.get('ETag') ?? '*' };
}

/** Returns how far from host time `limited_access` reaches, in days, as the service is set up. */
export async function readWindowDays(): Promise<number | null> {
  return (await readLimits()).limited_access_window_days ?? null;
}

/** Stands for how far `limited_access` reaches, until the service has told. */
const DAYS = '{days}';

/** The levels, the freest first. */
export const LEVELS: readonly { id: RestrictionLevel; title: string; means: string }[] = [
  {
    id: 'full_access',
    title: 'Full access',
    means: 'Travels to any moment and changes clocks and events wherever permissions allow it.',
  },
  {
    id: 'limited_access',
    title: 'Limited access',
    means: `Travels only within ${DAYS} of host time, and cannot change the rate of a clock.`,
  },
  { id: 'read_only', title: 'Read only', means: 'Reads clocks and events, changes nothing.' },
  { id: 'no_access', title: 'No access', means: 'Cannot even read clocks and events.' },
];

/** Returns what a level means; `days` is how far `limited_access` reaches, where that is known. */
export function meaning(level: RestrictionLevel, days: number | null): string {
  const text = LEVELS.find(({ id }) => id === level)?.means ?? '';
  return text.replace(DAYS, days === null ? 'some days' : days === 1 ? 'a day' : `${days.toLocaleString('en')} days`);
}

/** What a name of a user or timeline is made of, as the service says it. */
const ID = /^[0-9A-Za-z][0-9A-Za-z._:@-]{0,127}$/;

/** Returns what is wrong with the name of a user, or null. */
export function idIssue(text: string): string | null {
  if (ID.test(text)) return null;
  if (text.length > 128) return 'A name can have at most 128 characters.';
  if (/^[._:@-]/.test(text)) return 'A name must start with a letter or a digit.';
  return 'A name can contain letters, digits and . _ - : @';
}
