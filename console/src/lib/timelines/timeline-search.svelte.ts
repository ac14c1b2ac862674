/** Finds timelines beyond the loaded pages of the list. */
import { untrack } from 'svelte';
import { isAborted } from '../service/api';
import { timelines, type TimelineBody } from './timelines.svelte';

/** Valid timeline names. */
const NAME = /^[0-9A-Za-z][0-9A-Za-z._:@-]{0,127}$/;
/** Limit for names with a given prefix. */
const NAMED_ITEMS = 50;
/** Characters of timeline names in sort order, and the maximum length. */
const LETTERS = '-.0123456789:@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
const NAME_LENGTH_MAX = 128;
/** Debounce delay. */
const REST_MS = 300;

/** Returns matching timelines: an exact match first, then those found by the service, then other loaded ones. */
function withPart(
  part: string,
  list: readonly TimelineBody[],
  named: readonly TimelineBody[],
): readonly TimelineBody[] {
  const query = part.trim();
  const has = ({ timeline_id: name }: TimelineBody): boolean => name.toLowerCase().includes(query.toLowerCase());
  const all = list.filter(has);
  const known = new Set(all.map((timeline) => timeline.timeline_id));
  const found = [...named.filter((timeline) => !known.has(timeline.timeline_id) && has(timeline)), ...all];
  const exact = found.find((timeline) => timeline.timeline_id === query);
  return exact ? [exact, ...found.filter((timeline) => timeline !== exact)] : found;
}

export class TimelineSearch {
  isSearching = $state(false);
  error = $state.raw<unknown>(null);
  /** Timelines found by prefix. */
  #named = $state.raw<readonly TimelineBody[]>([]);

  constructor(
    /** Number of results after which the search stops. */
    private readonly visibleMax: number,
  ) {}

  matches(part: string): readonly TimelineBody[] {
    return withPart(part, timelines.list, this.#named);
  }

  /**
   * Searches for part of a name after a debounce: names with this prefix first, then page by page for names that
   * contain it. Returns a function that cancels the search.
   */
  find(part: string): () => void {
    const query = part.trim();
    if (query === '' || untrack(() => timelines.isRead && !timelines.hasMore)) return () => {};
    const abort = new AbortController();
    const timer = setTimeout(() => void this.#search(query, abort.signal), REST_MS);
    this.isSearching = true;
    return () => {
      clearTimeout(timer);
      abort.abort();
      this.isSearching = false;
    };
  }

  async #search(query: string, signal: AbortSignal): Promise<void> {
    const isEnough = (): boolean => this.matches(query).length >= this.visibleMax;
    try {
      await timelines.ready();
      if (NAME.test(query)) this.#named = await withPrefix(query, signal);
      while (!signal.aborted && timelines.hasMore && !isEnough()) await timelines.more(signal);
      this.error = null;
    } catch (thrown) {
      if (isAborted(thrown)) return;
      this.error = thrown;
    }
    if (!signal.aborted) this.isSearching = false;
  }
}

/** Requests the timelines with a name prefix. */
async function withPrefix(start: string, signal: AbortSignal): Promise<TimelineBody[]> {
  const body = await timelines.page(cursorBefore(start), NAMED_ITEMS, signal);
  const named = body.timelines.filter((timeline) => timeline.timeline_id.startsWith(start));
  timelines.keep(named);
  return named;
}

/** Returns the cursor before all names with a prefix: the greatest possible name that precedes them. */
export function cursorBefore(start: string): string {
  const shorter = start.slice(0, -1);
  // Names must start with a letter or a digit.
  const letters = shorter === '' ? LETTERS.replace(/[^0-9A-Za-z]/g, '') : LETTERS;
  const at = letters.indexOf(start.slice(-1));
  return at > 0 ? (shorter + letters.charAt(at - 1)).padEnd(NAME_LENGTH_MAX, 'z') : shorter;
}

/** Loads the complete list, for timelines whose family may be anywhere in it. */
export class WholeList {
  error = $state.raw<unknown>(null);

  /** Whether the list is incomplete. */
  get isPartial(): boolean {
    return !timelines.isRead || timelines.hasMore;
  }

  /** Progress text. */
  get status(): string {
    const count = timelines.list.length.toLocaleString('en');
    return this.error === null
      ? `Loading timelines… ${count} so far`
      : `Only the first ${count} timelines were loaded.`;
  }

  /** Reads all pages. Returns a function that cancels this. */
  read(): () => void {
    const abort = new AbortController();
    void this.#read(abort.signal);
    return () => abort.abort();
  }

  async #read(signal: AbortSignal): Promise<void> {
    try {
      await timelines.ready();
      while (!signal.aborted && timelines.hasMore) await timelines.more(signal);
      this.error = null;
    } catch (thrown) {
      if (!isAborted(thrown)) this.error = thrown;
    }
  }
}
