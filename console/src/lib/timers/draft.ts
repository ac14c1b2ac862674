/** The timer form's values and their conversion to requests. */
import { parseMomentInput } from '../time/calendar';
import { format, parse, type Micros } from '../time/instant';
import { zonedField } from '../time/zoned';
import type { Timer, TimerEvent } from './timers';

export type Kind = 'at' | 'every' | 'cron';
/** What happens to firings: they wait in a queue, or are recorded as events. */
export type Target = 'queue' | 'timeline';

export interface TimerDraft {
  kind: Kind;
  timerId: string;
  at: string;
  rule: string;
  starts: string;
  expression: string;
  zone: string;
  to: Target;
  queue: string;
  /** Fields of the recorded event. */
  name: string;
  description: string;
  location: string;
  actors: string[];
  attributes: string;
  payload: string;
  orderKey: string;
  misfire: string;
  catchUp: boolean;
}

export const EMPTY: TimerDraft = {
  kind: 'at',
  timerId: '',
  at: '',
  rule: '',
  starts: '',
  expression: '',
  zone: 'UTC',
  to: 'queue',
  queue: '',
  name: '',
  description: '',
  location: '',
  actors: [],
  attributes: '',
  payload: '',
  orderKey: '',
  misfire: 'all',
  catchUp: false,
};

/** Common rules with titles. */
export const RULES: readonly [string, string][] = [
  ['every day', 'FREQ=DAILY'],
  ['every Monday', 'FREQ=WEEKLY;BYDAY=MO'],
  ['the last day of each month', 'FREQ=MONTHLY;BYMONTHDAY=-1'],
  ['the 31st, or the last day', 'FREQ=MONTHLY;BYMONTHDAY=31;SKIP=BACKWARD'],
  ['the last working day', 'FREQ=MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=-1'],
  ['every year', 'FREQ=YEARLY'],
];

export const CRONS: readonly [string, string][] = [
  ['every hour', '0 * * * *'],
  ['working days at 9', '0 9 * * MON-FRI'],
  ['the 1st at midnight', '0 0 1 * *'],
];

/** Returns the request body, or the invalid fields with their errors. */
export function bodyOf(draft: TimerDraft, now: Micros): { body: Record<string, unknown> } | { wrong: FieldErrors } {
  const wrong: FieldErrors = {};
  const body: Record<string, unknown> = {};
  const moment = (field: 'at' | 'starts', text: string): string => {
    const found = parseMomentInput(text, now);
    if (found === null)
      wrong[field] = 'Write a timestamp such as 2027-01-31T09:00:00Z, a date, or a step from now such as +90m.';
    return found === null ? '' : format(found.instant);
  };
  const zone = draft.zone.trim() === '' ? {} : { zone: draft.zone.trim() };
  if (draft.kind === 'at') body.at = moment('at', draft.at);
  else if (draft.kind === 'every') {
    if (draft.rule.trim() === '') wrong.rule = 'Write a rule such as FREQ=MONTHLY;BYMONTHDAY=-1.';
    const starts = draft.starts.trim() === '' ? {} : { starts: moment('starts', draft.starts) };
    body.every = { rule: draft.rule.trim(), ...starts, ...zone };
  } else {
    if (draft.expression.trim() === '') wrong.expression = 'Write five fields: minute, hour, day, month, weekday.';
    body.cron = { expression: draft.expression.trim(), ...zone };
  }
  if (draft.kind !== 'at') {
    if (draft.misfire !== 'all') body.misfire = draft.misfire;
    if (draft.catchUp) body.catch_up = true;
  }
  if (draft.timerId.trim() !== '') body.timer_id = draft.timerId.trim();
  if (draft.to === 'timeline') body.deliver = { to: 'timeline', event: eventOf(draft, wrong) };
  else deliver(draft, body, wrong);
  return Object.keys(wrong).length > 0 ? { wrong } : { body };
}

/** Returns an API timestamp as a field value. */
function fieldText(time: string | null | undefined): string {
  const instant = parse(time ?? '');
  return instant === null ? (time ?? '') : zonedField(instant);
}

/** Returns the form values of an existing timer. */
export function draftOf({ timer_id, at, every, cron, misfire, deliver, payload, order_key }: Timer): TimerDraft {
  const event = deliver.event ?? {};
  return {
    ...EMPTY,
    kind: every ? 'every' : cron ? 'cron' : 'at',
    timerId: timer_id,
    at: fieldText(at),
    rule: every?.rule ?? '',
    starts: fieldText(every?.starts),
    expression: cron?.expression ?? '',
    zone: every?.zone ?? cron?.zone ?? EMPTY.zone,
    to: deliver.event ? 'timeline' : 'queue',
    queue: deliver.queue ?? '',
    name: event.name ?? '',
    description: event.description ?? '',
    location: event.location ?? '',
    actors: event.actors ?? [],
    attributes: event.attributes == null ? '' : JSON.stringify(event.attributes, null, 2),
    payload: payload == null ? '' : JSON.stringify(payload, null, 2),
    orderKey: order_key ?? '',
    misfire: misfire ?? EMPTY.misfire,
  };
}

/** Event fields that the form edits. Others are kept. */
const EDITABLE: readonly string[] = ['name', 'description', 'location', 'actors', 'attributes'];

/** Returns the changed fields of a timer. */
export function changesOf(timer: Timer, draft: TimerDraft, now: Micros): ReturnType<typeof bodyOf> {
  const [was, read] = [bodyOf(draftOf(timer), now), bodyOf(draft, now)];
  if ('wrong' in read) return read;
  const before: Record<string, unknown> = 'body' in was ? was.body : {};
  const { body } = read;
  const differs = (...fields: string[]): boolean =>
    fields.some((field) => JSON.stringify(before[field]) !== JSON.stringify(body[field]));
  const changes: Record<string, unknown> = {};
  // The schedule is replaced as a whole.
  if (differs('at', 'every', 'cron', 'misfire'))
    for (const field of ['at', 'every', 'cron', 'misfire']) if (field in body) changes[field] = body[field];
  // Webhook URL and secret are kept, because the secret is never returned.
  if (!timer.deliver.url && differs('deliver')) {
    const others = Object.entries(timer.deliver.event ?? {}).filter(([field]) => !EDITABLE.includes(field));
    const { event } = (body.deliver ?? {}) as { event?: TimerEvent };
    changes.deliver = event
      ? { to: 'timeline', event: { ...Object.fromEntries(others), ...event } }
      : (body.deliver ?? { to: 'queue' });
  }
  const wrong: FieldErrors = {};
  const worker = draft.to === 'queue';
  if (worker && differs('payload')) changes.payload = body.payload;
  if (worker && differs('order_key')) changes.order_key = body.order_key ?? null;
  if ('payload' in changes && changes.payload === undefined)
    wrong.payload = 'A payload can be changed, but not removed. Write {} for an empty one.';
  if (Object.keys(wrong).length > 0) return { wrong };
  return { body: changes };
}

/** Adds the queue and the payload of firings to the request. */
function deliver(draft: TimerDraft, body: Record<string, unknown>, wrong: FieldErrors): void {
  if (draft.queue.trim() !== '') body.deliver = { to: 'queue', queue: draft.queue.trim() };
  if (draft.orderKey.trim() !== '') body.order_key = draft.orderKey.trim();
  if (draft.payload.trim() === '') return;
  const payload = json(draft.payload);
  if (payload === undefined) wrong.payload = 'This is not JSON. Put text in quotation marks, such as "renew".';
  else body.payload = payload;
}

function eventOf(draft: TimerDraft, wrong: FieldErrors): TimerEvent {
  const event: TimerEvent = {};
  for (const field of ['name', 'description', 'location'] as const)
    if (draft[field].trim() !== '') event[field] = draft[field].trim();
  if (event.name === undefined && event.description === undefined) wrong.name = 'Describe the event in a few words.';
  if (draft.actors.length > 0) event.actors = draft.actors;
  if (draft.attributes.trim() !== '') {
    const found = json(draft.attributes);
    if (typeof found === 'object' && found !== null && !Array.isArray(found))
      event.attributes = found as Record<string, unknown>;
    else wrong.attributes = 'Write a JSON object, such as {"plan": "yearly"}.';
  }
  return event;
}

/** Parses JSON; undefined if it is invalid. */
function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export type FieldErrors = Partial<
  Record<'at' | 'rule' | 'starts' | 'expression' | 'payload' | 'orderKey' | 'name' | 'attributes', string>
>;
