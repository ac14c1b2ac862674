/** Timers and firings as the API returns them. */
import { service } from '../service/api';

export interface Timer {
  timer_id: string;
  /** Order of timers due at the same instant: earlier ones first. */
  position: number;
  state: TimerState;
  /** Next due time; absent unless the timer is armed. */
  next?: string | null;
  at?: string | null;
  every?: { rule: string; starts: string; zone: string } | null;
  cron?: { expression: string; zone: string } | null;
  misfire?: string | null;
  /** With `url`, the service sends firings to it. With neither `url` nor `queue`, firings are recorded as events. */
  deliver: { to: string; queue?: string | null; url?: string | null; event?: TimerEvent | null };
  payload: unknown;
  order_key?: string | null;
  round: number;
  set_by: string;
  set_at: string;
}

/** The event that each firing records. The firing provides its ID and time. */
export interface TimerEvent {
  name?: string | null;
  description?: string | null;
  location?: string | null;
  actors?: string[] | null;
  attributes?: Record<string, unknown> | null;
}

export const STATES = ['armed', 'done', 'cancelled'] as const;
export type TimerState = (typeof STATES)[number];

export interface Firing {
  firing_id: string;
  timer_id: string;
  due: string;
  round: number;
  /** Absent if it is an event of the timeline. */
  queue?: string | null;
  /** The recorded event. */
  event_id?: string | null;
  /** `pending`, `acknowledged`, `failed` or `superseded`. */
  state: string;
  reason?: string | null;
}

/** An advance that stops at each due timer: its progress and outcome. */
export interface AdvanceReceipt {
  state: 'settled' | 'running' | 'stopped' | 'stuck';
  advance_id: string;
  from: string;
  to: string;
  reached: string;
  /** Number of instants at which it stopped. */
  step: number;
  fired: number;
  acknowledged: number;
  failed: number;
  unacknowledged: number;
  held_by?: string | null;
  /** The first hundred. */
  firings: Firing[];
}

export interface FiringForecast {
  to: string;
  count: number;
  /** Whether all firings were counted. */
  complete: boolean;
  /** The first thousand. */
  firings: { timer_id: string; due: string; queue?: string | null }[];
  timers: { timer_id: string; count: number }[];
}

/** Returns the queue that lists the firings of a timer; empty if they are events. */
export function queueOf({ queue, url }: Timer['deliver']): string | null | undefined {
  return url ? 'timenav:webhook' : queue;
}

/** Returns where the firings of a timer are delivered. */
export function timerTarget({ queue, url }: Timer['deliver']): string {
  return url ?? deliveryTarget(queue);
}

/** Returns where a firing is delivered: its queue, or the timeline. */
export function deliveryTarget(queue: string | null | undefined): string {
  return queue ?? 'records an event';
}

/**
 * Whether a firing can be delivered again: it failed, was for a worker or a webhook, and no later round has the same
 * due time.
 */
export function canBeRedelivered({ state, queue, due, round }: Firing, firings: readonly Firing[]): boolean {
  const isLatest = !firings.some((firing) => firing.due === due && firing.round > round);
  return state === 'failed' && Boolean(queue) && isLatest;
}

interface TimerPage {
  timers: Timer[];
  next_cursor?: string | null;
  has_more: boolean;
}

interface TimersQuery {
  state?: TimerState;
  limit?: number;
  cursor?: string | null;
  signal?: AbortSignal;
}

/** Reads timers of a timeline. Armed timers are sorted by due time. */
export function readTimers(timeline: string, { state, limit, cursor, signal }: TimersQuery = {}): Promise<TimerPage> {
  return service.timers(
    { timeline_id: timeline, state, limit, cursor: cursor ?? undefined },
    { signal },
  ) as Promise<TimerPage>;
}

/** Reads a timer with its latest hundred firings, newest first. */
export function readTimer(
  timeline: string,
  timerId: string,
  signal?: AbortSignal,
): Promise<{ timer: Timer; firings: Firing[] }> {
  return service.timer({ timeline_id: timeline, timer_id: timerId }, { signal }) as Promise<{
    timer: Timer;
    firings: Firing[];
  }>;
}

/** A clock move for a dry run. */
type Move = { duration: string } | { destination_time: string };

/** Returns the timers that a move would fire, with a dry run. */
export async function forecastFirings(timeline: string, move: Move, signal?: AbortSignal): Promise<FiringForecast> {
  const dryRun = { timeline_id: timeline, dry_run: true };
  const response = await ('duration' in move
    ? service.fastForward({ ...dryRun, ...move }, { signal })
    : service.travel({ ...dryRun, ...move }, { signal }));
  return response.would_fire ?? { to: '', count: 0, complete: true, firings: [], timers: [] };
}

/** Reads the state of an advance. The response waits up to `wait` of host time for its end. */
export async function readAdvance(
  timeline: string,
  advanceId: string,
  wait: string,
  signal: AbortSignal,
): Promise<AdvanceReceipt> {
  const response = await service.receipt({ timeline_id: timeline, advance_id: advanceId, wait }, { signal });
  return response.receipt as AdvanceReceipt;
}
