/** How long contents of reads and refusals are kept: what is asked of the service, and how it is told. */
import { service } from '../../../lib/service/api';
import { durationWords, fixedLengthIssue, readDuration } from '../../../lib/time/duration';
import type { Retention } from '../../../lib/timelines/timelines.svelte';
import { firstLogs } from '../log/log';

export const CLASSES = ['reads', 'rejections'] as const;
export type Class = (typeof CLASSES)[number];

const SECOND = 1_000_000n;

/** Returns for how long something is kept, in words. */
export function retentionText(period: string | null): string {
  if (period === null) return 'forever';
  const read = readDuration(period);
  return read.ok ? `for ${durationWords(read.duration)}` : `for ${period}`;
}

/** Returns how many seconds a period has; `Infinity` is forever. */
export function secondsOf(period: string | null): number {
  if (period === null) return Infinity;
  const read = readDuration(period);
  return read.ok ? Number(read.duration.micros / SECOND) : NaN;
}

/** Returns a number of seconds in words, such as "1 day". */
export function secondsText(seconds: number): string {
  return durationWords({ months: 0, micros: BigInt(seconds) * SECOND });
}

/** Returns what is wrong with a period that was typed, or null. */
export function periodIssue(text: string, floorSeconds: number | null): string | null {
  const issue = fixedLengthIssue(text);
  if (issue !== null) return issue;
  const read = readDuration(text);
  if (!read.ok) return read.problem;
  if (read.duration.micros % SECOND !== 0n) return 'Write whole seconds.';
  if (floorSeconds !== null && read.duration.micros < BigInt(floorSeconds) * SECOND)
    return `This service keeps them for at least ${secondsText(floorSeconds)}.`;
  return null;
}

const USUAL = ['P1D', 'P7D', 'P30D', 'P90D', 'P365D'];

/** Returns the periods that are offered: the usual ones that the service allows, and the one that is in force. */
export function choices(inForce: string | null, floorSeconds: number | null): [string, string][] {
  const allowed = USUAL.filter((period) => secondsOf(period) >= (floorSeconds ?? 0));
  const all = inForce === null || allowed.includes(inForce) ? allowed : [...allowed, inForce];
  const inOrder = all.sort((a, b) => secondsOf(a) - secondsOf(b));
  const title = (period: string): string => {
    const words = retentionText(period);
    return words.charAt(0).toUpperCase() + words.slice(1);
  };
  return [['', 'Forever'], ...inOrder.map((period): [string, string] => [period, title(period)]), ['other', 'Other…']];
}

/** Says what a change means for what is recorded already. */
export function effectText(what: Class, before: string | null, after: string | null): string | null {
  const [was, is] = [secondsOf(before), secondsOf(after)];
  if (was === is || Number.isNaN(is)) return null;
  const name = what === 'reads' ? 'Reads' : 'Rejected attempts';
  return is > was
    ? `${name}: the longer time also applies to existing entries.`
    : `${name}: the shorter time applies to new entries. ` +
        `Existing entries are kept ${retentionText(before)}, as before.`;
}

/** A sweep: what was let go, and by what it is proven. */
export interface Sweep {
  position: number;
  at: string;
  what: string;
  /** Who asked for it; `system` for the service. */
  by: string;
}

/** What is known of retention besides what is in force. */
export interface RetentionHistory {
  /** The entry that set what is in force; null where it is too far back to look for. */
  set: { position: number; at: string; by: string } | null;
  /** The newest sweeps. */
  sweeps: Sweep[];
}

/** So many sweeps are shown. */
const VISIBLE_SWEEPS_MAX = 8;

/** Reads who set the retention, and what was let go since. */
export async function readHistory(timeline: string, signal: AbortSignal): Promise<RetentionHistory> {
  const [sets, sweeps] = await Promise.all([
    firstLogs(timeline, 'set_retention', 1, signal),
    firstLogs(timeline, 'sweep', VISIBLE_SWEEPS_MAX, signal),
  ]);
  const [set] = sets;
  return {
    set: set ? { position: set.position, at: set.timestamp, by: set.user_id } : null,
    sweeps: sweeps.map((entry) => ({
      position: entry.position,
      at: entry.timestamp,
      what: entry.subject,
      by: entry.user_id,
    })),
  };
}

/** What a sweep says in its payload. */
export interface SweepPayload {
  count: number;
  cutoff: string;
}

/** Reads what a sweep says: how much it let go, and up to when. Null where that cannot be read. */
export async function readSweep(timeline: string, position: number): Promise<SweepPayload | null> {
  const { entries } = await service.entries({ timeline_id: timeline, from: position, limit: 1 });
  try {
    return JSON.parse(entries[0]?.payload ?? '') as SweepPayload;
  } catch {
    return null;
  }
}

/** What the service answers to `prune`. */
export interface PrunedBody {
  status: string;
  retention: Retention;
  pruned: number;
  blocked_by?: string | null;
  has_more: boolean;
}

export function prune(timeline: string, acceptsHostClock: boolean, signal: AbortSignal): Promise<PrunedBody> {
  return service.prune(
    { timeline_id: timeline, ...(acceptsHostClock ? { trust_host_clock: true } : {}) },
    { signal },
  ) as Promise<PrunedBody>;
}

/** Sets what differs from what is in force. */
export async function setRetention(
  timeline: string,
  before: Retention,
  after: Retention,
): Promise<{ status: string; retention: Retention }> {
  const changed = CLASSES.filter((what) => before[what] !== after[what]).map((what) => [what, after[what]] as const);
  const answer = await service.setRetention({ timeline_id: timeline, ...Object.fromEntries(changed) });
  return { status: answer.status, retention: answer.retention as Retention };
}
