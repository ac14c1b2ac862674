/** Entries of the access log: how they are found from the newest back, told, and written as CSV. */
import { SECOND, format, parse, type Micros } from '../../lib/instant';

export interface LogEntry {
  user_id: string;
  action: string;
  timestamp: string;
  subject: string;
  clock_time: string;
  position: number;
}

export interface LogPage {
  logs: LogEntry[];
  next_cursor?: string | null;
  has_more: boolean;
}

/** What is asked for; a bound that is null is open. */
export interface LogFilter {
  user: string;
  action: string;
  from: Micros | null;
  to: Micros | null;
}

export type Kind = 'refused' | 'change' | 'look';

/** Tells what an entry is: something that was refused, a look (and that a session goes on with it), or a change. */
export function kindOf(entry: { action: string }): Kind {
  if (entry.action === 'unauthorized_access_attempt') return 'refused';
  return entry.action === 'read' || entry.action === 'renew_session' ? 'look' : 'change';
}

/** Actions that a ledger knows, in groups, for choosing one. */
export const ACTIONS: readonly [string, readonly string[]][] = [
  ['Watch', ['unauthorized_access_attempt', 'read']],
  ['Clock', ['travel', 'pause_time', 'resume_time', 'fast_forward', 'rewind', 'set_rate', 'set_anchor', 'return_to_anchor']],
  ['Events', ['record_event', 'correct_event', 'manipulate_event']],
  ['Data', ['encrypt_data', 'decrypt_data', 'erase_data', 'detect_tampering']],
  ['Timeline', ['create_timeline', 'set_access_control', 'accept_rollback']],
  ['Users, in system', ['create_user', 'delete_user', 'restrict_time_travel', 'create_api_key', 'revoke_api_key', 'log_in', 'log_out', 'set_password', 'end_session', 'renew_session']],
];

const SAID: Record<string, string> = {
  unauthorized_access_attempt: 'Refused',
  read: 'Looked at',
  renew_session: 'Session goes on',
  create_api_key: 'Create API key',
  revoke_api_key: 'Revoke API key',
  fast_forward: 'Fast-forward',
};

/** Returns an action as people say it. */
export function actionText(action: string): string {
  const said = SAID[action] ?? action.replaceAll('_', ' ');
  return said.charAt(0).toUpperCase() + said.slice(1);
}

export type AskPage = (range: string, cursor: string | null) => Promise<LogPage>;

/** At most so many entries on a page, as the service allows. */
export const PAGE_MAX = 1_000;
/** A window is not made narrower than this: whatever happened within it is read through. */
const NARROWEST = SECOND;
/** By how much a window is narrowed or widened at a time. */
const STEP = 8n;

export interface BackwardOptions {
  ask: AskPage;
  /** The earliest moment that can hold an entry. */
  first: Micros;
  /** The latest one. */
  last: Micros;
  /** How wide the first window is. */
  width: Micros;
}

/**
 * Reads a log that the service tells from the oldest on, from the newest back: in windows of time, narrower where they
 * hold too much and wider where they hold little. Each request is an entry of the log itself, so few are made.
 */
export class Backward {
  #end: Micros;
  #width: Micros;
  /** Up to here there is more than a page, as a window that was too wide has shown. */
  #crowd: Micros | null = null;

  constructor(private readonly options: BackwardOptions) {
    this.#end = options.last;
    this.#width = options.width;
  }

  get isDone(): boolean {
    return this.#end < this.options.first;
  }

  /** Returns at least so many older entries, the newest first, unless there are no more. */
  async older(least: number, onProgress: (read: number) => void = () => {}): Promise<LogEntry[]> {
    const found: LogEntry[] = [];
    while (found.length < least && !this.isDone) {
      const start = this.#start();
      const entries = await this.#window(start, (read) => onProgress(found.length + read));
      if (entries === null) {
        this.#width = (this.#end - start) / STEP;
        continue;
      }
      found.push(...entries.reverse());
      this.#aim(this.#end - start, entries.length);
      this.#end = start - 1n;
    }
    return found;
  }

  #start(): Micros {
    const width = this.#width > NARROWEST ? this.#width : NARROWEST;
    const after = this.#crowd !== null && this.#crowd < this.#end ? this.#crowd + 1n : this.options.first;
    const start = this.#end - width;
    return start > after ? start : after > this.options.first ? after : this.options.first;
  }

  /** Makes the next window as wide as would hold half a page if the pace stayed the same. */
  #aim(width: Micros, held: number): void {
    const most = (width > NARROWEST ? width : NARROWEST) * STEP;
    const wanted = held === 0 ? most : (width * BigInt(PAGE_MAX / 2)) / BigInt(held);
    this.#width = wanted > most ? most : wanted;
  }

  /** Returns what the window holds, or null where it is too wide. */
  async #window(start: Micros, onProgress: (read: number) => void): Promise<LogEntry[] | null> {
    const range = `${format(start)}/${format(this.#end)}`;
    const entries: LogEntry[] = [];
    let cursor: string | null = null;
    do {
      const page: LogPage = await this.options.ask(range, cursor);
      entries.push(...page.logs);
      cursor = page.has_more ? (page.next_cursor ?? null) : null;
      if (cursor !== null && entries.length >= PAGE_MAX && this.#end - start > NARROWEST) {
        this.#crowd = parse(entries.at(-1)!.timestamp);
        return null;
      }
      onProgress(entries.length);
    } while (cursor !== null);
    return entries;
  }
}

/** Puts what is newer before what is there; what both have stays once. */
export function withNewer(entries: readonly LogEntry[], newer: readonly LogEntry[]): LogEntry[] {
  const top = entries[0]?.position ?? -1;
  return [...newer.filter((entry) => entry.position > top).sort((a, b) => b.position - a.position), ...entries];
}

/** What a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Returns entries as CSV of RFC 4180 that no spreadsheet runs. */
export function csv(entries: readonly LogEntry[]): string {
  const head = ['host_time', 'user_id', 'action', 'subject', 'clock_time', 'position'];
  const rows = entries.map((entry) => [entry.timestamp, entry.user_id, entry.action, entry.subject, entry.clock_time, String(entry.position)]);
  return [head, ...rows].map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}
