/** Finds timelines beyond those pages of their list that were read. */
import { untrack } from 'svelte';
import { isAborted } from '../service/api';
import { timelines, type TimelineBody } from './timelines.svelte';

/** A name as the service takes it; anything else is the name of no timeline. */
const NAME = /^[0-9A-Za-z][0-9A-Za-z._:@-]{0,127}$/;
/** So many names that begin with what was typed are asked for. */
const NAMED_ITEMS = 50;
/** The characters of names in their order, and how long a name may be. */
const LETTERS = '-.0123456789:@ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
const NAME_LENGTH_MAX = 128;
/** One has stopped typing. */
const REST_MS = 300;

/** Returns the timelines whose names have a part, what is written in full first, and then what the service found. */
export function withPart(
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
  /** What the service found by the beginning of its name. */
  #named = $state.raw<readonly TimelineBody[]>([]);

  constructor(
    /** So many are enough. */
    private readonly visibleMax: number,
  ) {}

  matches(part: string): readonly TimelineBody[] {
    return withPart(part, timelines.list, this.#named);
  }

  /**
   * Looks for a part of a name, once it stays: the names that begin so first, wherever they stand; then page after page
   * for those that have it in the middle. Returns how to stop.
   */
  find(part: string): () => void {
    const query = part.trim();
    if (query === '' || untrack(() => timelines.isRead && !timelines.hasMore)) return () => {};
    const asking = new AbortController();
    const timer = setTimeout(() => void this.#search(query, asking.signal), REST_MS);
    this.isSearching = true;
    return () => {
      clearTimeout(timer);
      asking.abort();
      this.isSearching = false;
    };
  }

  async #search(query: string, signal: AbortSignal): Promise<void> {
    const isEnough = (): boolean => this.matches(query).length >= this.visibleMax;
    try {
      await timelines.ready();
      if (NAME.test(query)) this.#named = await begunWith(query, signal);
      while (!signal.aborted && timelines.hasMore && !isEnough()) await timelines.more(signal);
      this.error = null;
    } catch (thrown) {
      if (isAborted(thrown)) return;
      this.error = thrown;
    }
    if (!signal.aborted) this.isSearching = false;
  }
}

/** Asks for the timelines whose names begin with something, wherever in the list they stand. */
async function begunWith(start: string, signal: AbortSignal): Promise<TimelineBody[]> {
  const body = await timelines.page(before(start), NAMED_ITEMS, signal);
  const named = body.timelines.filter((timeline) => timeline.timeline_id.startsWith(start));
  timelines.keep(named);
  return named;
}

/** Returns the cursor behind which names begin with something: the last name there can be before it. */
export function before(start: string): string {
  const shorter = start.slice(0, -1);
  // A name must start with a letter or a digit.
  const letters = shorter === '' ? LETTERS.replace(/[^0-9A-Za-z]/g, '') : LETTERS;
  const at = letters.indexOf(start.slice(-1));
  return at > 0 ? (shorter + letters.charAt(at - 1)).padEnd(NAME_LENGTH_MAX, 'z') : shorter;
}

/** The whole list, for what any timeline may belong to: the family of one of them. */
export class WholeList {
  error = $state.raw<unknown>(null);

  /** Whether some of it is still missing. */
  get isPartial(): boolean {
    return !timelines.isRead || timelines.hasMore;
  }

  /** How far it is, in words. */
  get status(): string {
    const count = timelines.list.length.toLocaleString('en');
    return this.error === null
      ? `Loading timelines… ${count} so far`
      : `Only the first ${count} timelines were loaded.`;
  }

  /** Reads page after page; returns how to stop. */
  read(): () => void {
    const asking = new AbortController();
    void this.#read(asking.signal);
    return () => asking.abort();
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
