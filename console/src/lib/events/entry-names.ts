/** The names of events that entries of a ledger are about: their payloads have them, many in one answer. */
import { callName } from './known-names';

/** An entry as far as it says which event it is about. */
export interface OfEntry {
  position: number;
  action: string;
  subject: string;
}

const OF_EVENTS = ['record_event', 'correct_event', 'manipulate_event', 'import_event'];

/** Whether the subject of an entry is the id of an event. */
export function isOfEvent({ action, subject }: { action: string; subject: string }): boolean {
  return subject !== '' && OF_EVENTS.includes(action);
}

/** Entries that are no further apart than this are read together, with those between them. */
const GAP_MAX = 48;
/** So many are read at once; each question is an entry itself. */
const RUN_MAX = 250;

/** Returns the stretches of a ledger that have some positions, in order. */
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

/** Returns the event that a payload names, and what it is called; null where it names none. */
export function nameIn(payload: string | null | undefined): { id: string; name: string; precision?: string } | null {
  try {
    const record = JSON.parse(payload ?? 'null') as Payload | null;
    const event = record?.event ?? record?.after ?? record;
    const id = event?.event_id ?? record?.event_id;
    const name = event ? callName(event) : '';
    return typeof id === 'string' && name !== ''
      ? { id, name, ...(event?.precision && { precision: event.precision }) }
      : null;
  } catch {
    return null;
  }
}
