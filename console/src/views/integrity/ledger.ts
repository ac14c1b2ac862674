/** Entries of a ledger, read in the bundles that the service serves them in (docs/ledger-format.md §8). */
import { Problem, service } from '../../lib/api';
import { bundlePath, readBundle } from '../../lib/note';

export interface Entry {
  seq: number;
  action: string;
  actor: string;
  subject: string;
  recorded_at: string;
  clock_time: string;
}

export const PAGE_ENTRIES = 20;
const BUNDLE_ENTRIES = 256;

/** Returns which entries are shown, and in which bundles they are: the newest, or those before a position. */
export function pageOf(size: number, before: number | null): { first: number; end: number; bundles: number[] } {
  const end = Math.min(size, before ?? size);
  const first = Math.max(0, end - PAGE_ENTRIES);
  if (end === 0) return { first: 0, end: 0, bundles: [] };
  const [low, high] = [Math.floor(first / BUNDLE_ENTRIES), Math.floor((end - 1) / BUNDLE_ENTRIES)];
  return { first, end, bundles: Array.from({ length: high - low + 1 }, (_, index) => low + index) };
}

/** Reads the entries from `first` to before `end`, in a ledger of `size` entries; the newest first. */
export async function readEntries(
  timeline: string,
  size: number,
  before: number | null,
  signal: AbortSignal,
): Promise<Entry[]> {
  const { first, end, bundles } = pageOf(size, before);
  const entries: Entry[] = [];
  for (const bundle of bundles) {
    const told = await service.tile({ timeline_id: timeline, tile: bundlePath(bundle, size) }, { signal });
    const parts = readBundle(new Uint8Array(told));
    if (parts === null) throw new Problem(200, 'unreadable', 'The entries that were sent are cut off.', '');
    entries.push(...parts.map((part) => JSON.parse(new TextDecoder().decode(part)) as Entry));
  }
  return entries.filter((entry) => entry.seq >= first && entry.seq < end).reverse();
}
