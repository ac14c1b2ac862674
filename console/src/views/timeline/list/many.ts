/** Changes of several events: texts, order and results. */
import { ApiError, sentence, type Input } from '../../../lib/service/api';
import { readDuration } from '../../../lib/time/duration';
import { countText } from '../../../lib/events/words';
import { parse } from '../../../lib/time/instant';
import type { EventBody } from '../../../lib/events/store';

export const KINDS = [
  ['cancel', 'Cancel'],
  ['delay', 'Postpone'],
  ['advance', 'Bring forward'],
  ['note', 'Label'],
] as const;
export type Kind = (typeof KINDS)[number][0];

interface Change {
  kind: Kind;
  /** Duration, for changes that move events. */
  amount: string;
  /** Text of the label. */
  label: string;
}

const DONE = { cancel: 'canceled', delay: 'postponed', advance: 'brought forward', note: 'labeled' } as const;

export const isMove = (kind: Kind): boolean => kind === 'delay' || kind === 'advance';

/** Returns the validation error of a change, or null. */
export function issueOf({ kind, amount, label }: Change): string | null {
  if (kind === 'note') return label.trim() === '' ? 'Enter a label.' : null;
  if (!isMove(kind)) return null;
  const read = readDuration(amount.trim());
  return read.ok ? null : read.problem;
}

/** Describes a change for the button and the anchor: "Postpone 3 events by 2h". */
export function changeText({ kind, amount, label }: Change, count: number): string {
  const events = countText(count, 'event');
  const verb = KINDS.find(([of]) => of === kind)![1];
  if (kind === 'note') return `${verb} ${events} “${label.trim()}”`;
  return `${verb} ${events}${isMove(kind) ? ` by ${amount.trim()}` : ''}`;
}

/** Describes the result: "2 of 3 events postponed". */
export function doneText(kind: Kind, done: number, all: number): string {
  return `${done.toLocaleString('en')} of ${countText(all, 'event')} ${DONE[kind]}`;
}

/** Returns the request for an event, without the timeline. */
export function requestOf({ kind, amount, label }: Change, event: EventBody): Input<'manipulate_event'> {
  const duration = amount.trim();
  const request = { event_id: event.event_id, time: event.time };
  if (kind === 'note') return { ...request, action: label.trim(), effect: { kind } };
  if (isMove(kind)) return { ...request, action: `${kind} by ${duration}`, effect: { kind, duration } };
  return { ...request, action: kind };
}

/**
 * Returns the events in the order of their changes: effects before their causes, so that changing both creates no
 * temporary paradox. Bringing events forward requires the opposite order.
 */
export function inOrder(kind: Kind, events: readonly EventBody[]): EventBody[] {
  const sign = kind === 'advance' ? 1 : -1;
  const timed = events.map((event) => ({ event, time: parse(event.time) ?? 0n }));
  timed.sort((a, b) => (a.time === b.time ? 0 : a.time < b.time ? -sign : sign));
  return timed.map(({ event }) => event);
}

/** Events rejected for the same reason. */
export interface Rejection {
  why: string;
  events: readonly EventBody[];
}

/** Returns the reason of a rejection, with the same text for equal reasons. */
export function reasonOf(error: unknown): string {
  if (error instanceof ApiError) return error.status;
  return sentence(error);
}

/** Adds a rejected event; the largest group comes first. */
export function withRejection(before: readonly Rejection[], event: EventBody, why: string): Rejection[] {
  const own = before.find((group) => group.why === why);
  const group = { why, events: [...(own?.events ?? []), event] };
  const groups = own ? before.map((other) => (other === own ? group : other)) : [...before, group];
  return groups.sort((a, b) => b.events.length - a.events.length);
}
