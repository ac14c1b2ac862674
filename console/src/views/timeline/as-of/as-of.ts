/** From one state of what is known to the one before or after it: the entries of the ledger that changed something. */
import { service } from '../../../lib/service/api';
import { format, parse, type Micros } from '../../../lib/time/instant';
import { knownAt } from '../../../lib/address/known-at';
import { isLook } from '../../../lib/ledger/looks';
import { readMoment } from '../../../lib/time/zoned';
import { readPage } from '../../integrity/ledger/ledger';

/** A timeline whose entries are known, and until when: a fork knows those of its parent up to when it was made. */
export interface Known {
  timeline: string;
  until: Micros | null;
}

const PAGE_ITEMS = 200;
/** Among so many looks a change is looked for, and no further. */
const PAGES_MAX = 5;

/**
 * Returns when the change before a moment was recorded, or the one after it; null where there is none. `lineage` has
 * the timeline first, and then its ancestors.
 */
export async function adjacentChange(
  lineage: readonly Known[],
  at: Micros,
  way: 'before' | 'after',
  signal: AbortSignal,
): Promise<Micros | null> {
  // What a timeline recorded itself came after all that its ancestors did.
  for (const known of way === 'before' ? lineage : [...lineage].reverse()) {
    const found = await changeOf(known, at, way, signal);
    if (found !== null) return found;
  }
  return null;
}

async function changeOf(
  { timeline, until }: Known,
  at: Micros,
  way: 'before' | 'after',
  signal: AbortSignal,
): Promise<Micros | null> {
  const end = way === 'after' ? until : until !== null && until < at ? until : at - 1n;
  if (way === 'after' && end !== null && end <= at) return null;
  const time_range = `${way === 'after' ? format(at + 1n) : '..'}/${end === null ? '..' : format(end)}`;
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const body = await service.accessLogs(
      { timeline_id: timeline, time_range, order: way === 'before' ? 'newest' : 'oldest', limit: PAGE_ITEMS, cursor },
      { signal },
    );
    const change = body.logs.find(({ action }) => !isLook(action) && !action.startsWith('unauthorized_access_attempt'));
    if (change) return parse(change.timestamp);
    if (!body.has_more || !body.next_cursor) return null;
    cursor = body.next_cursor;
  }
  return null;
}

/** What somebody may write, in the words of the field. */
export const TO_WRITE =
  'Enter a date, a timestamp such as 2028-02-29T08:30:00Z, an entry such as 100, or the id of an anchor.';

/** Reads what somebody typed: a moment, or an entry or an anchor as the service takes it; null for anything else. */
export function readKnown(text: string): Micros | string | null {
  const bare = text.trim().replace(/^entry\s+/i, '');
  return readMoment(bare) ?? knownAt(bare);
}

/** Returns when an entry was recorded; null where nobody says so. */
export async function timeOfEntry(timeline: string, position: number, signal: AbortSignal): Promise<Micros | null> {
  const { entries } = await readPage(timeline, position + 1, null, signal, 1);
  return parse(entries[0]?.recorded_at ?? '');
}
