/** A timer as it is asked for in a form. */
import { understand } from '../calendar';
import { format, type Micros } from '../instant';
import type { TimerEvent } from './timers';

export type Kind = 'at' | 'every' | 'cron';
/** What becomes of a firing: it waits in a queue, or it is recorded as an event. */
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
  /** Of the event that is recorded. */
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

/** What people want most often, in words and as a rule. */
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

/** Returns the body of the request, or what is wrong with a field. */
export function bodyOf(draft: TimerDraft, now: Micros): { body: Record<string, unknown> } | { wrong: Wrong } {
  const wrong: Wrong = {};
  const body: Record<string, unknown> = {};
  const moment = (field: 'at' | 'starts', text: string): string => {
    const found = understand(text, now);
    if (found === null) wrong[field] = 'Write a timestamp such as 2027-01-31T09:00:00Z, a date, or +90m from here.';
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

/** Says in which queue firings wait, and what is handed to whoever claims one. */
function deliver(draft: TimerDraft, body: Record<string, unknown>, wrong: Wrong): void {
  if (draft.queue.trim() !== '') body.deliver = { to: 'queue', queue: draft.queue.trim() };
  if (draft.orderKey.trim() !== '') body.order_key = draft.orderKey.trim();
  if (draft.payload.trim() === '') return;
  const payload = json(draft.payload);
  if (payload === undefined) wrong.payload = 'This is not JSON. Put quotation marks around a text, such as "renew".';
  else body.payload = payload;
}

function eventOf(draft: TimerDraft, wrong: Wrong): TimerEvent {
  const event: TimerEvent = {};
  for (const field of ['name', 'description', 'location'] as const)
    if (draft[field].trim() !== '') event[field] = draft[field].trim();
  if (event.name === undefined && event.description === undefined) wrong.name = 'Say in a few words what happens then.';
  if (draft.actors.length > 0) event.actors = draft.actors;
  if (draft.attributes.trim() !== '') {
    const found = json(draft.attributes);
    if (typeof found === 'object' && found !== null && !Array.isArray(found))
      event.attributes = found as Record<string, unknown>;
    else wrong.attributes = 'Write a JSON object, such as {"plan": "yearly"}.';
  }
  return event;
}

/** Returns what a text of JSON says; undefined where it is none. */
function json(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

export type Wrong = Partial<
  Record<'at' | 'rule' | 'starts' | 'expression' | 'payload' | 'name' | 'attributes', string>
>;
