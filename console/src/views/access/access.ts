/** Requests and texts of the access view. */
import { type Output, readJson, rejection, send, service } from '../../lib/service/api';
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
/** Maximum number of pages to read of a list. No real list is that long. */
const PAGES_MAX = 20;

/** Query of one page of a list. */
interface Part {
  limit: number;
  cursor?: string;
}

/** Reads all pages of a list. */
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

/** Returns the keys of a user, newest first, including expired and revoked ones. */
export async function readKeys(query: { user_id?: string }, signal: AbortSignal): Promise<ApiKey[]> {
  const pages = await readAll((part) => service.apiKeys({ ...query, ...part }, { signal }));
  return pages.flatMap((page) => page.api_keys);
}

/** Permissions with their ETag, which an update must match. */
export interface TaggedPermissions {
  permissions: Permissions;
  tag: string;
}

export async function readPermissions(timeline: string, signal: AbortSignal): Promise<TaggedPermissions> {
  const answer = await send('GET', 'v1/access-control', { query: { timeline_id: timeline }, signal });
  if (!answer.ok) throw await rejection(answer);
  const { permissions } = await readJson<Output<'access_control'>>(answer, signal);
  return { permissions: parsePermissions(permissions), tag: answer.headers.get('ETag') ?? '*' };
}

/** Returns how many days from host time `limited_access` allows, as configured in the service. */
export async function readWindowDays(): Promise<number | null> {
  return (await readLimits()).limited_access_window_days ?? null;
}

/** Placeholder for the days of `limited_access` until the service has returned them. */
const DAYS = '{days}';

/** The levels, least restricted first. */
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

/** Describes a level. `days` is the window of `limited_access`, if known. */
export function meaning(level: RestrictionLevel, days: number | null): string {
  const text = LEVELS.find(({ id }) => id === level)?.means ?? '';
  return text.replace(DAYS, days === null ? 'some days' : days === 1 ? 'a day' : `${days.toLocaleString('en')} days`);
}

/** The syntax of user and timeline names, as in the API. */
const ID = /^[0-9A-Za-z][0-9A-Za-z._:@-]{0,127}$/;

/** Returns the error of a user name, or null. */
export function idIssue(text: string): string | null {
  if (ID.test(text)) return null;
  if (text.length > 128) return 'A name can have at most 128 characters.';
  if (/^[._:@-]/.test(text)) return 'A name must start with a letter or a digit.';
  return 'A name can contain letters, digits and . _ - : @';
}

/** Returns why a section is not shown to users who are not admins. */
export const adminsOnly = (timeline: string, role: string | undefined, action: string): string =>
  role
    ? `You have ${role} on ${timeline}. Only its admins can ${action}; ask one of them.`
    : `Timeline ${timeline} does not exist, or you don't have access to it.`;
