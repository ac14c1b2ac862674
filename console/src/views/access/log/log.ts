/** Entries of the access log: their texts, and export as CSV. */
import { countText, entriesText } from '../../../lib/events/words';
import { service } from '../../../lib/service/api';
import type { Micros } from '../../../lib/time/instant';
import { isReadAction } from '../../../lib/ledger/read-actions';

export interface LogEntry {
  user_id: string;
  action: string;
  timestamp: string;
  subject: string;
  /** Missing if the user may not read the clock. */
  clock_time?: string;
  position: number;
  /** Index of the read within its entry; missing if the entry has only one. */
  index?: number;
  /** Set if the row represents pruned or erased entries. */
  gap?: LogGap;
}

/** Consecutive read entries whose users were pruned or erased. */
export interface LogGap {
  reason: 'pruned' | 'erased';
  entries: number;
  /** Number of erased reads; missing if they were pruned. */
  reads?: number;
  first_position: number;
  last_position: number;
  from: string;
  to: string;
  policy?: { position: number; reads: string | null };
}

export interface LogPage {
  logs: LogEntry[];
  redacted?: LogGap[];
  next_cursor?: string | null;
  has_more: boolean;
}

/** Query of the log. A bound of null is open. */
export interface LogFilter {
  user: string;
  action: string;
  from: Micros | null;
  to: Micros | null;
}

type Kind = 'rejected' | 'change' | 'read';

/** Classifies an entry: a refusal, a read (or a session continued by one), or a change. */
export function kindOf(entry: { action: string }): Kind {
  if (entry.action.startsWith('unauthorized_access_attempt')) return 'rejected';
  return isReadAction(entry.action) ? 'read' : 'change';
}

/** Actions in the ledger, in groups for the filter. */
export const ACTIONS: readonly [string, readonly string[]][] = [
  ['Reads and rejections', ['unauthorized_access_attempt', 'unauthorized_access_attempts', 'read', 'reads']],
  [
    'Clock',
    ['travel', 'pause_time', 'resume_time', 'fast_forward', 'rewind', 'set_rate', 'set_anchor', 'return_to_anchor'],
  ],
  [
    'Timers',
    ['set_timer', 'change_timer', 'cancel_timer', 'fire_timers', 'settle_firings', 'end_advance', 'restore_timers'],
  ],
  ['Events', ['record_event', 'correct_event', 'manipulate_event']],
  ['Data', ['encrypt_data', 'decrypt_data', 'erase_data', 'erase_events', 'erase_reads', 'detect_tampering']],
  [
    'Timeline',
    [
      'create_timeline',
      'set_access_control',
      'adopt',
      'layer_erased',
      'handed_over',
      'rotate_signing_key',
      'accept_rollback',
    ],
  ],
  ['Retention', ['set_retention', 'sweep']],
  ['Service, in system', ['end_timeline', 'accept_host_clock', 'heads']],
  [
    'Users, in system',
    [
      'create_user',
      'delete_user',
      'restrict_time_travel',
      'create_api_key',
      'revoke_api_key',
      'log_in',
      'log_out',
      'set_password',
      'end_session',
      'renew_session',
    ],
  ],
];

const ACTION_TEXTS: Record<string, string> = {
  unauthorized_access_attempt: 'Rejected',
  unauthorized_access_attempts: 'Rejected, several times',
  read: 'Read',
  reads: 'Reads, pruned',
  reads_erased: 'Reads, erased',
  renew_session: 'Session renewed',
  sweep: 'Prune contents',
  adopt: 'Adopt timeline',
  handed_over: 'Hand over timeline',
  layer_erased: 'Erased before it was adopted',
  accept_host_clock: 'Confirm host clock',
  heads: 'Commit to timelines',
  fire_timers: 'Timers fired',
  settle_firings: 'Firings settled',
  end_advance: 'Advance ended',
  restore_timers: 'Timers restored',
  rotate_signing_key: 'Change signing key',
  create_api_key: 'Create API key',
  revoke_api_key: 'Revoke API key',
  fast_forward: 'Fast-forward',
};

/** Returns the label of an action. */
export function actionText(action: string): string {
  const phrase = ACTION_TEXTS[action] ?? action.replaceAll('_', ' ');
  return phrase.charAt(0).toUpperCase() + phrase.slice(1);
}

/** Returns the positions of entries with several reads, as far as these rows show. */
export function sharedEntries(rows: readonly LogEntry[]): ReadonlySet<number> {
  const seen = new Set<number>();
  const shared = new Set<number>();
  for (const { position, index } of rows) {
    if (seen.has(position) || (index ?? 0) > 0) shared.add(position);
    seen.add(position);
  }
  return shared;
}

/** Returns which read of its entry a row is, or '' if it is the only one. */
export function readText({ position, index }: LogEntry, shared: ReadonlySet<number>): string {
  return index === undefined || !shared.has(position) ? '' : `read ${(index + 1).toLocaleString('en')}`;
}

/** Pages to search for rare entries. Each page covers tens of thousands of entries. */
const SEEK_PAGES_MAX = 4;

/** Returns the newest entries of an action without reading the whole log. */
export async function firstLogs(
  timeline: string,
  action: string,
  target: number,
  signal: AbortSignal,
): Promise<LogEntry[]> {
  const found: LogEntry[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < SEEK_PAGES_MAX; page += 1) {
    const query = {
      timeline_id: timeline,
      time_range: '../..',
      order: 'newest' as const,
      limit: target - found.length,
      action,
      cursor: cursor ?? undefined,
    };
    const body = (await service.accessLogs(query, { signal })) as LogPage;
    found.push(...body.logs);
    cursor = body.has_more ? (body.next_cursor ?? null) : null;
    if (cursor === null || found.length >= target) break;
  }
  return found;
}

/** Describes a gap in the log and its reason. */
export function gapText(gap: LogGap): string {
  const { entries, reads, policy, first_position: first, last_position: last } = gap;
  const where = first === last ? `position ${first}` : `positions ${first} to ${last}`;
  if (gap.reason === 'erased') return `${countText(reads ?? 0, 'read')} of ${entriesText(entries)}, ${where}`;
  if (policy === undefined) return `${entriesText(entries)}, ${where}: no policy allows this. Scan the timeline`;
  const period = policy.reads === null ? 'forever' : `for ${policy.reads}`;
  return `${entriesText(entries)}, ${where}; the policy at ${policy.position} kept reads ${period}`;
}

/** Returns the entries of a page, newest first, with a row for each gap. */
export function rowsOf(page: LogPage): LogEntry[] {
  const row = (gap: LogGap): LogEntry => ({
    user_id: '',
    action: gap.reason === 'pruned' ? 'reads' : 'reads_erased',
    timestamp: gap.to,
    subject: gapText(gap),
    position: gap.last_position,
    gap,
  });
  // The remaining part of an entry comes before its gap.
  const place = (entry: LogEntry): number => entry.index ?? (entry.gap ? -1 : 0);
  const rows = [...page.logs, ...(page.redacted ?? []).map(row)];
  return rows.sort((a, b) => b.position - a.position || place(b) - place(a));
}

/** The maximum page size of the service. */
export const PAGE_MAX = 1_000;
/** Prepends newer entries without duplicates. */
export function withNewer(entries: readonly LogEntry[], newer: readonly LogEntry[]): LogEntry[] {
  const top = entries[0]?.position ?? -1;
  const inOrder = (a: LogEntry, b: LogEntry): number => b.position - a.position || (b.index ?? 0) - (a.index ?? 0);
  return [...newer.filter((entry) => entry.position > top).sort(inOrder), ...entries];
}

/** Prefixes that a spreadsheet would evaluate as a formula. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Returns entries as CSV (RFC 4180), with formulas disabled. */
export function csv(entries: readonly LogEntry[]): string {
  const head = ['host_time', 'user_id', 'action', 'subject', 'clock_time', 'position'];
  const rows = entries.map((entry) => [
    entry.timestamp,
    entry.user_id,
    entry.action,
    entry.subject,
    entry.clock_time ?? '',
    String(entry.position),
  ]);
  return [head, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}
