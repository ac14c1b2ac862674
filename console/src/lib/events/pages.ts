/** Reads events page by page. */
import { isAborted, service } from '../service/api';
import { format, parse, type Micros } from '../time/instant';
import { queryOf, type Question } from './filter';
import { cacheNames } from './known-names';
import { EventStore, type EventBody } from './store';

export interface EventPage {
  store: EventStore;
  /** Cursor of the next page; null after the last one. */
  next: string | null;
  /** Time up to which the search reached, if a selective filter left the page partly filled. */
  searchedTo: Micros | null;
}

interface PageBody {
  events: EventBody[];
  next_cursor?: string | null;
  has_more: boolean;
  searched_until?: string | null;
}

interface PageOptions {
  /** An omitted end is unbounded. */
  from?: Micros | null;
  to?: Micros | null;
  cursor?: string | null;
  limit: number;
  order?: 'newest';
  /** Whether to include events that begin before `from` and last beyond it. */
  overlapping?: boolean;
  signal: AbortSignal;
}

/**
 * A selective filter returns short pages. This is the maximum number of requests before the user is asked to continue.
 */
const SHORT_PAGES_MAX = 20;

const range = (from?: Micros | null, to?: Micros | null): string =>
  [from, to].map((end) => (end === null || end === undefined ? '..' : format(end))).join('/');

/** Reads a page. With a selective filter, requests further pages until it is full. */
export async function readPage(question: Question, options: PageOptions): Promise<EventPage> {
  const { signal, limit, order, overlapping } = options;
  const store = new EventStore();
  let next = options.cursor ?? null;
  let searchedTo: Micros | null = null;
  for (let page = 0; page < SHORT_PAGES_MAX; page += 1) {
    const body: PageBody = await service.monitorEvents(
      {
        ...queryOf(question),
        time_range: range(options.from, options.to),
        limit: limit - store.count,
        cursor: next ?? undefined,
        order,
        overlapping,
      },
      { signal },
    );
    for (const event of body.events) store.push(event);
    if (!question.asOf) cacheNames(question.timeline, body.events);
    next = body.has_more ? (body.next_cursor ?? null) : null;
    searchedTo = body.searched_until ? parse(body.searched_until) : null;
    if (next === null || store.count >= limit) break;
  }
  return { store, next, searchedTo: next === null ? null : searchedTo };
}

/**
 * Reads all events of a range, including earlier events that last into it. Returns null if more than `limit` events
 * begin in the range. If only the earlier events exceed the limit, they are omitted.
 */
export async function readSpan(
  question: Question,
  options: { from: Micros; to: Micros; limit: number; signal: AbortSignal },
): Promise<EventStore | null> {
  const all = await readPage(question, { ...options, overlapping: true }).catch((error: unknown) => {
    // A database that is being upgraded has no event durations yet.
    if (isAborted(error)) throw error;
    return null;
  });
  if (all?.next === null) return all.store;
  const starting = await readPage(question, options);
  return starting.next === null ? starting.store : null;
}

/** Returns the times of the first and the last event of a timeline, regardless of filters, or null if it has none. */
export async function readExtent(
  { timeline, asOf }: Pick<Question, 'timeline' | 'asOf'>,
  signal: AbortSignal,
): Promise<{ first: Micros; last: Micros } | null> {
  const ends = await Promise.all(
    [undefined, 'newest' as const].map((order) =>
      service.monitorEvents(
        { timeline_id: timeline, location: '*', time_range: '../..', limit: 1, order, as_of: asOf ?? undefined },
        { signal },
      ),
    ),
  );
  const [first, last] = ends.map((body) => parse(body.events[0]?.time ?? ''));
  return first == null || last == null ? null : { first, last };
}

/** Returns the times of the first and the last matching event in a range, or null if there is none. */
export async function readEnds(
  question: Question,
  { from, to }: { from: Micros; to: Micros },
  signal: AbortSignal,
): Promise<{ from: Micros; to: Micros } | null> {
  const [first, last] = await Promise.all([
    readPage(question, { from, to, limit: 1, signal }),
    readPage(question, { from, to, limit: 1, order: 'newest', signal }),
  ]);
  if (first.store.count === 0 || last.store.count === 0) return null;
  return { from: first.store.time(0), to: last.store.end() };
}

/**
 * Limit for events at one instant that are skipped to find the next one. Beyond it, the search continues at the next
 * instant.
 */
const AT_ONE_MOMENT_MAX = 5_000;
const AT_ONE_MOMENT_PAGE = 1_000;

/**
 * Returns the event before or after an instant, or null. If `chosen` happens at that instant, returns its neighbor,
 * which may have the same time.
 */
export async function nextEvent(
  question: Question,
  from: Micros,
  direction: 1 | -1,
  chosen: string | null = null,
): Promise<{ id: string; time: Micros } | null> {
  const { signal } = new AbortController();
  const order = direction > 0 ? {} : { order: 'newest' as const };
  const first = ({ store }: EventPage) => (store.count === 0 ? null : { id: store.ids[0]!, time: store.time(0) });
  if (chosen !== null) {
    const moment = { from, to: from, limit: AT_ONE_MOMENT_PAGE, signal, ...order };
    let isPassed = false;
    let cursor: string | null = null;
    for (let seen = 0; seen < AT_ONE_MOMENT_MAX; seen += AT_ONE_MOMENT_PAGE) {
      const page: EventPage = await readPage(question, { ...moment, cursor });
      const row: number = isPassed ? 0 : page.store.ids.indexOf(chosen) + 1;
      isPassed ||= row > 0;
      if (isPassed && row < page.store.count) return { id: page.store.ids[row]!, time: from };
      cursor = page.next;
      if (cursor === null) break;
    }
  }
  const ends = direction > 0 ? { from: from + 1n } : { to: from - 1n };
  return first(await readPage(question, { ...ends, ...order, limit: 1, signal }));
}
