/** Timers as the API tells them: what shall fire, what has fired, and what would fire if the clock were moved. */
import { service } from '../service/api';

export interface Timer {
  timer_id: string;
  /** Of timers that fire at the same moment, those set earlier come first. */
  position: number;
  state: TimerState;
  /** When it fires next; absent unless it is armed. */
  next?: string | null;
  at?: string | null;
  every?: { rule: string; starts: string; zone: string } | null;
  cron?: { expression: string; zone: string } | null;
  misfire?: string | null;
  /** With a URL, the service sends each firing there. With neither, it is recorded as an event. */
  deliver: { to: string; queue?: string | null; url?: string | null; event?: TimerEvent | null };
  payload: unknown;
  order_key?: string | null;
  round: number;
  set_by: string;
  set_at: string;
}

/** The event that each firing of a timer records: it has the firing's id and moment, and no other. */
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
  /** The event that it recorded. */
  event_id?: string | null;
  /** `pending`, `acknowledged`, `failed` or `superseded`. */
  state: string;
  reason?: string | null;
}

/** A clock change that stands still at each timer on its way: how far it is, and what came of it. */
export interface Settled {
  state: 'settled' | 'running' | 'stopped' | 'stuck';
  advance_id: string;
  from: string;
  to: string;
  reached: string;
  /** At how many instants it stood. */
  step: number;
  fired: number;
  acknowledged: number;
  failed: number;
  unacknowledged: number;
  held_by?: string | null;
  /** The first hundred. */
  firings: Firing[];
}

export interface WouldFire {
  to: string;
  count: number;
  /** Whether all were counted. */
  complete: boolean;
  /** The first thousand. */
  firings: { timer_id: string; due: string; queue?: string | null }[];
  timers: { timer_id: string; count: number }[];
}

/** Returns the queue in which the firings of a timer are listed; nothing if they are events. */
export function queueOf({ queue, url }: Timer['deliver']): string | null | undefined {
  return url ? 'timenav:webhook' : queue;
}

/** Returns where the firings of a timer go. */
export function deliversTo({ queue, url }: Timer['deliver']): string {
  return url ?? goesTo(queue);
}

/** Returns where a firing goes: its queue, or the timeline, which records it as an event. */
export function goesTo(queue: string | null | undefined): string {
  return queue ?? 'records an event';
}

/**
 * Whether a firing can be delivered again: it has failed, was to go to a worker or a webhook, and its moment has not
 * come again since.
 */
export function canComeAgain({ state, queue, due, round }: Firing, firings: readonly Firing[]): boolean {
  const isLatest = !firings.some((other) => other.due === due && other.round > round);
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

/** Reads timers of a timeline: those that are armed by their next moment. */
export function readTimers(timeline: string, { state, limit, cursor, signal }: TimersQuery = {}): Promise<TimerPage> {
  return service.timers(
    { timeline_id: timeline, state, limit, cursor: cursor ?? undefined },
    { signal },
  ) as Promise<TimerPage>;
}

/** Reads a timer with its latest hundred firings, the newest first. */
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

/** A move of the clock that is only asked about. */
type Move = { duration: string } | { destination_time: string };

/** Asks what a move ahead would fire. Nothing moves. */
export async function foresee(timeline: string, move: Move, signal?: AbortSignal): Promise<WouldFire> {
  const dryRun = { timeline_id: timeline, dry_run: true };
  const answer = await ('duration' in move
    ? service.fastForward({ ...dryRun, ...move }, { signal })
    : service.travel({ ...dryRun, ...move }, { signal }));
  return answer.would_fire ?? { to: '', count: 0, complete: true, firings: [], timers: [] };
}

/** Reads how an advance is doing; the answer waits for its end, in host time, and no longer. */
export async function readAdvance(
  timeline: string,
  advanceId: string,
  wait: string,
  signal: AbortSignal,
): Promise<Settled> {
  const answer = await service.receipt({ timeline_id: timeline, advance_id: advanceId, wait }, { signal });
  return answer.receipt as Settled;
}
