/** Messages of watches: changes of firings, and ranges that the clock has passed. */
import { Instant } from './instant.js';
import type { FiringMessage, StreamMessage } from './operation-types.js';
import type { ServerSentEvent } from './transport.js';

/** A change of a firing (docs/timers.md). Newer services may send others. */
export type FiringChange =
  'offered' | 'redelivered' | 'leased' | 'extended' | 'tried_again' | 'acknowledged' | 'failed' | 'superseded';

/** A gap in a watch: messages may be missing here. */
export interface Gap {
  readonly kind: 'gap';
  /** The id of the message. */
  readonly id: string;
  /**
   * Whether messages of any kind may be missing: reload your state. This happens after an interruption of more than
   * 100,000 entries, or if the connection was lost before the service had sent an id. If false, only claims, extensions
   * and failed attempts may be missing, which are not in the ledger.
   */
  readonly isReset: boolean;
}

/** A firing and its change. */
export interface WatchedFiring {
  /** The change. */
  readonly change: FiringChange;
  readonly firingId: string;
  /** The timer that fired. */
  readonly timerId: string;
  /** The due time, in virtual time. */
  readonly due: Instant;
  /** The round of the timer. */
  readonly round: number;
  /** The queue of the firing; `timenav:webhook` if it is sent as a webhook. Null if it records an event. */
  readonly queue: string | null;
  /** The event that it recorded, if its timer records events. */
  readonly eventId: string | null;
  /** Firings with the same key are delivered one at a time. */
  readonly orderKey: string | null;
  /** The user who claimed it. */
  readonly claimedBy: string | null;
  /** The number of this attempt, from 1. */
  readonly attempt: number | null;
  /** Host time at which the lease ends. */
  readonly leasedUntil: Instant | null;
  /** Earliest host time of the next attempt. */
  readonly notBefore: Instant | null;
  /** The reason of the failure. */
  readonly reason: string | null;
}

/** A change of a firing. */
export interface FiringUpdate {
  readonly kind: 'firing';
  /** The id of the message, to resume after it. */
  readonly id: string;
  readonly timelineId: string;
  /** The position of the newest reported ledger entry. */
  readonly position: number;
  /** The firing and its change. */
  readonly firing: WatchedFiring;
}

/** A range of virtual time with events that the clock has passed. Both ends are included. */
export interface DueRange {
  readonly kind: 'due';
  /** The id of the message, to resume after it. */
  readonly id: string;
  readonly timelineId: string;
  /** The position of the newest reported ledger entry. */
  readonly position: number;
  /** Its first instant. */
  readonly first: Instant;
  /** Its last instant. */
  readonly last: Instant;
  /** The range in the format that `monitorEvents` takes. */
  readonly timeRange: string;
}

/** Parses a message of `firings_stream`; null if its kind is unknown to this version. */
export function firingUpdate({ event, id, data }: ServerSentEvent<FiringMessage>): FiringUpdate | Gap | null {
  if (event !== 'firing') return gap(event, id);
  const body = data.firing;
  if (body === undefined) throw new SyntaxError('the message has no firing');
  const firing: WatchedFiring = {
    change: body.change as FiringChange,
    firingId: body.firing_id,
    timerId: body.timer_id,
    due: Instant.parse(body.due),
    round: body.round,
    queue: body.queue ?? null,
    eventId: body.event_id ?? null,
    orderKey: body.order_key ?? null,
    claimedBy: body.claimed_by ?? null,
    attempt: body.attempt ?? null,
    leasedUntil: instant(body.leased_until),
    notBefore: instant(body.not_before),
    reason: body.reason ?? null,
  };
  return { kind: 'firing', id, timelineId: data.timeline_id, position: data.position, firing };
}

/** Parses a message of the topic `due`; null if its kind is unknown to this version. */
export function dueRange({ event, id, data }: ServerSentEvent<StreamMessage>): DueRange | Gap | null {
  if (event !== 'due') return gap(event, id);
  const range = data.due;
  if (range === undefined) throw new SyntaxError('the message has no range');
  const { timeline_id: timelineId, position } = data;
  const [first, last] = [Instant.parse(range.from), Instant.parse(range.to)];
  return { kind: 'due', id, timelineId, position, first, last, timeRange: range.time_range };
}

function gap(event: string, id: string): Gap | null {
  return event === 'gap' || event === 'reset' ? { kind: 'gap', id, isReset: event === 'reset' } : null;
}

function instant(text: string | undefined): Instant | null {
  return text === undefined ? null : Instant.parse(text);
}
