/** Retention of reads and refusals: requests and texts. */
import { service } from '../../../lib/service/api';
import { durationWords, fixedLengthIssue, readDuration } from '../../../lib/time/duration';
import type { Retention } from '../../../lib/timelines/timelines.svelte';
import { firstLogs } from '../log/log';

export const CLASSES = ['reads', 'rejections'] as const;
export type Class = (typeof CLASSES)[number];

const SECOND = 1_000_000n;

/** Formats a retention period. */
export function retentionText(period: string | null): string {
  if (period === null) return 'forever';
  const read = readDuration(period);
  return read.ok ? `for ${durationWords(read.duration)}` : `for ${period}`;
}

/** Returns a period in seconds; `Infinity` is forever. */
function secondsOf(period: string | null): number {
  if (period === null) return Infinity;
  const read = readDuration(period);
  return read.ok ? Number(read.duration.micros / SECOND) : NaN;
}

/** Formats a number of seconds, such as "1 day". */
export function secondsText(seconds: number): string {
  return durationWords({ months: 0, micros: BigInt(seconds) * SECOND });
}

/** Returns the error of a typed period, or null. */
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

/** Returns the offered periods: common ones that the service allows, and the one in force. */
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

/** Describes the effect of a change on existing entries. */
export function effectText(what: Class, before: string | null, after: string | null): string | null {
  const [was, is] = [secondsOf(before), secondsOf(after)];
  if (was === is || Number.isNaN(is)) return null;
  const name = what === 'reads' ? 'Reads' : 'Rejected attempts';
  return is > was
    ? `${name}: the longer time also applies to existing entries.`
    : `${name}: the shorter time applies to new entries. ` +
        `Existing entries are kept ${retentionText(before)}, as before.`;
}

/** A sweep: how many entries were pruned, and the ledger entry that proves it. */
export interface Sweep {
  position: number;
  at: string;
  what: string;
  /** The user who requested it, or `system`. */
  by: string;
}

/** History of the retention. */
export interface RetentionHistory {
  /** The entry that set the current retention, or null if it is too far back to search for. */
  set: { position: number; at: string; by: string } | null;
  /** Newest first. */
  sweeps: Sweep[];
}

/** Maximum number of sweeps shown. */
const VISIBLE_SWEEPS_MAX = 8;

/** Reads who set the retention, and the sweeps since. */
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

/** The payload of a sweep entry. */
export interface SweepPayload {
  count: number;
  cutoff: string;
}

/** Reads the payload of a sweep, or null if it is not readable. */
export async function readSweep(timeline: string, position: number): Promise<SweepPayload | null> {
  const { entries } = await service.entries({ timeline_id: timeline, from: position, limit: 1 });
  try {
    return JSON.parse(entries[0]?.payload ?? '') as SweepPayload;
  } catch {
    return null;
  }
}

/** The service's response to `prune`. */
interface PrunedBody {
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

/** Sets the periods that differ from those in force. */
export async function setRetention(
  timeline: string,
  before: Retention,
  after: Retention,
): Promise<{ status: string; retention: Retention }> {
  const changed = CLASSES.filter((what) => before[what] !== after[what]).map((what) => [what, after[what]] as const);
  const answer = await service.setRetention({ timeline_id: timeline, ...Object.fromEntries(changed) });
  return { status: answer.status, retention: answer.retention as Retention };
}
