/** Reads ledger entries from the bundles of the service (docs/specs/ledger.md §8). */
import { ApiError, service } from '../../../lib/service/api';
import { parse, type Micros } from '../../../lib/time/instant';
import { isReadAction } from '../../../lib/ledger/read-actions';
import { bundlePath, readBundle } from '../../../lib/ledger/note';

export interface Entry {
  seq: number;
  action: string;
  actor: string;
  subject: string;
  recorded_at: string;
  clock_time: string;
}

const PAGE_ENTRIES = 20;
/** Height of the page around the entries, and of one entry, in pixels. */
const AROUND = 300;
const ENTRY = 38;
const BUNDLE_ENTRIES = 256;

/** Returns how many entries fill a screen, at least PAGE_ENTRIES. */
export function entriesFor(height: number): number {
  return Math.max(PAGE_ENTRIES, Math.floor((height - AROUND) / ENTRY));
}

/** Returns the range of a page and its bundles: the newest entries, or those before a position. */
export function pageOf(
  size: number,
  before: number | null,
  most = PAGE_ENTRIES,
): { first: number; end: number; bundles: number[] } {
  const end = Math.min(size, before ?? size);
  const first = Math.max(0, end - most);
  if (end === 0) return { first: 0, end: 0, bundles: [] };
  const [low, high] = [Math.floor(first / BUNDLE_ENTRIES), Math.floor((end - 1) / BUNDLE_ENTRIES)];
  return { first, end, bundles: Array.from({ length: high - low + 1 }, (_, index) => low + index) };
}

/** A page of a ledger, newest first. */
export interface Page {
  entries: Entry[];
  /** The range that was searched; `end` is exclusive. */
  first: number;
  end: number;
  /** The exclusive end of the page of newer entries; null if that is the newest. */
  newer: number | null;
}

/** Returns the entries, newest first, that were recorded since an instant of host time. */
export function recordedSince(entries: readonly Entry[], since: Micros | null): readonly Entry[] {
  if (since === null) return entries;
  const end = entries.findIndex(({ recorded_at }) => (parse(recorded_at) ?? since) < since);
  return end < 0 ? entries : entries.slice(0, end);
}

/**
 * Returns how many entries a page of changes hides: down to the last one shown if it is cut off, or else to its end.
 */
export function foldedCount({ end, first }: Page, visible: readonly Entry[], isCut: boolean): number {
  const begin = isCut ? (visible.at(-1)?.seq ?? end) : first;
  return end - begin - visible.length;
}

/** Maximum number of bundles searched for a page of changes. If they contain only reads, the next page continues. */
const BUNDLES_MAX = 24;

const isChange = (entry: Entry): boolean => !isReadAction(entry.action);

/** Reads the entries of bundles in order. */
async function readBundles(
  timeline: string,
  size: number,
  bundles: readonly number[],
  signal: AbortSignal,
): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const bundle of bundles) {
    const bytes = await service.tile({ timeline_id: timeline, tile: bundlePath(bundle, size) }, { signal });
    const parts = readBundle(new Uint8Array(bytes));
    if (parts === null) throw new ApiError(200, 'unexpected_response', 'The list of entries is incomplete.', '');
    entries.push(...parts.map((part) => JSON.parse(new TextDecoder().decode(part)) as Entry));
  }
  return entries;
}

/** Reads a page of a ledger of `size` entries: the newest, or those before a position. */
export async function readPage(
  timeline: string,
  size: number,
  before: number | null,
  signal: AbortSignal,
  most = PAGE_ENTRIES,
): Promise<Page> {
  const { first, end, bundles } = pageOf(size, before, most);
  const entries = await readBundles(timeline, size, bundles, signal);
  const newer = end + most >= size ? null : end + most;
  return { entries: entries.filter(({ seq }) => seq >= first && seq < end).reverse(), first, end, newer };
}

/** Reads a page of changes. Reads are skipped, which are far more. */
export async function readChanges(
  timeline: string,
  size: number,
  before: number | null,
  signal: AbortSignal,
  most = PAGE_ENTRIES,
): Promise<Page> {
  const end = Math.min(size, before ?? size);
  let entries: Entry[] = [];
  let first = end;
  let rest = BUNDLES_MAX;
  while (entries.length < most && first > 0 && rest > 0) {
    const bundle = Math.floor((first - 1) / BUNDLE_ENTRIES);
    const read = await readBundles(timeline, size, [bundle], signal);
    const older = read.filter((entry) => entry.seq < first && isChange(entry)).reverse();
    entries = [...entries, ...older.slice(0, most - entries.length)];
    const isFull = entries.length === most;
    first = isFull ? (entries.at(-1)?.seq ?? 0) : bundle * BUNDLE_ENTRIES;
    rest -= 1;
  }
  return { entries, first, end, newer: await endOfNewer(timeline, size, end, signal, most) };
}

/** Returns the exclusive end of the page of changes that begins at a position, or null if it reaches the newest. */
async function endOfNewer(
  timeline: string,
  size: number,
  begin: number,
  signal: AbortSignal,
  most: number,
): Promise<number | null> {
  const low = Math.floor(begin / BUNDLE_ENTRIES);
  const high = Math.min(low + BUNDLES_MAX, Math.ceil(size / BUNDLE_ENTRIES));
  let missing = most;
  let end = high * BUNDLE_ENTRIES;
  for (let bundle = low; bundle < high && begin < size; bundle += 1) {
    const read = await readBundles(timeline, size, [bundle], signal);
    const changes = read.filter((entry) => entry.seq >= begin && isChange(entry));
    const last = changes[missing - 1];
    if (last !== undefined) {
      end = last.seq + 1;
      break;
    }
    missing -= changes.length;
  }
  return end < size ? end : null;
}
