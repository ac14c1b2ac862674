/** Event names in the payloads of ledger entries. One response contains many of them. */
import { displayName } from './known-names';

/** The fields of an entry that identify its event. */
export interface EntryEventFields {
  position: number;
  action: string;
  subject: string;
}

const OF_EVENTS = ['record_event', 'correct_event', 'manipulate_event', 'import_event'];

/** Whether the subject of an entry is an event ID. */
export function isOfEvent({ action, subject }: { action: string; subject: string }): boolean {
  return subject !== '' && OF_EVENTS.includes(action);
}

/** Entries with smaller gaps are read with one request, including those in between. */
const GAP_MAX = 48;
/** Maximum entries per request. Each request is itself a ledger entry. */
const RUN_MAX = 250;

/** Returns the ranges of a ledger that cover the given positions, in order. */
export function runsOf(positions: readonly number[]): { from: number; limit: number }[] {
  const runs: { from: number; limit: number }[] = [];
  for (const position of [...new Set(positions)].sort((a, b) => a - b)) {
    const last = runs.at(-1);
    const isNear = last !== undefined && position - (last.from + last.limit) < GAP_MAX;
    if (isNear && position - last.from < RUN_MAX) last.limit = position - last.from + 1;
    else runs.push({ from: position, limit: 1 });
  }
  return runs;
}

interface Payload {
  event_id?: unknown;
  event?: { event_id?: unknown; name?: string; description?: string; precision?: string } | null;
  after?: Payload['event'];
  name?: string;
  description?: string;
  precision?: string;
}

/** Returns the ID and name of the event in a payload, or null if there is none. */
export function nameIn(payload: string | null | undefined): { id: string; name: string; precision?: string } | null {
  try {
    const record = JSON.parse(payload ?? 'null') as Payload | null;
    const event = record?.event ?? record?.after ?? record;
    const id = event?.event_id ?? record?.event_id;
    const name = event ? displayName(event) : '';
    return typeof id === 'string' && name !== ''
      ? { id, name, ...(event?.precision && { precision: event.precision }) }
      : null;
  } catch {
    return null;
  }
}
