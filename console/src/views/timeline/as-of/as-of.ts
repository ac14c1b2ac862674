/** Steps through states: finds the ledger entries that changed a timeline. */
import { service } from '../../../lib/service/api';
import { format, parse, type Micros } from '../../../lib/time/instant';
import { knownAt } from '../../../lib/address/known-at';
import { isReadAction } from '../../../lib/ledger/read-actions';
import { readMoment } from '../../../lib/time/zoned';
import { readPage } from '../../integrity/ledger/ledger';

/** A timeline and the end of its visible entries: a fork sees the entries of its parent until the fork was created. */
export interface LedgerView {
  timeline: string;
  until: Micros | null;
}

const PAGE_ITEMS = 200;
/** Pages of read entries to skip before the search for a change stops. */
const PAGES_MAX = 5;

/**
 * Returns the recording time of the change before or after a time; null if there is none. `lineage` starts with the
 * timeline, followed by its ancestors.
 */
export async function adjacentChange(
  lineage: readonly LedgerView[],
  at: Micros,
  direction: 'before' | 'after',
  signal: AbortSignal,
): Promise<Micros | null> {
  // All entries of a timeline come after the visible entries of its ancestors.
  for (const known of direction === 'before' ? lineage : [...lineage].reverse()) {
    const found = await changeOf(known, at, direction, signal);
    if (found !== null) return found;
  }
  return null;
}

async function changeOf(
  { timeline, until }: LedgerView,
  at: Micros,
  direction: 'before' | 'after',
  signal: AbortSignal,
): Promise<Micros | null> {
  const end = direction === 'after' ? until : until !== null && until < at ? until : at - 1n;
  if (direction === 'after' && end !== null && end <= at) return null;
  const time_range = `${direction === 'after' ? format(at + 1n) : '..'}/${end === null ? '..' : format(end)}`;
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const body = await service.accessLogs(
      {
        timeline_id: timeline,
        time_range,
        order: direction === 'before' ? 'newest' : 'oldest',
        limit: PAGE_ITEMS,
        cursor,
      },
      { signal },
    );
    const change = body.logs.find(
      ({ action }) => !isReadAction(action) && !action.startsWith('unauthorized_access_attempt'),
    );
    if (change) return parse(change.timestamp);
    if (!body.has_more || !body.next_cursor) return null;
    cursor = body.next_cursor;
  }
  return null;
}

/** Error text for input that cannot be parsed. */
export const FORMAT_HINT =
  'Enter a date, a timestamp such as 2028-02-29T08:30:00Z, an entry such as 100, or the id of an anchor.';

/** Parses the input: a time, or an entry or an anchor in the form of the `as_of` parameter; null for anything else. */
export function readKnown(text: string): Micros | string | null {
  const bare = text.trim().replace(/^entry\s+/i, '');
  return readMoment(bare) ?? knownAt(bare);
}

/** Returns the recording time of an entry; null if the entry has none. */
export async function timeOfEntry(timeline: string, position: number, signal: AbortSignal): Promise<Micros | null> {
  const { entries } = await readPage(timeline, position + 1, null, signal, 1);
  return parse(entries[0]?.recorded_at ?? '');
}
