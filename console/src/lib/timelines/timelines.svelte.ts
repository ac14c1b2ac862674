/** The timelines that the user may read, for the picker and for whoever needs their roles. */
import { service } from '../service/api';
import type { ClockBody } from '../live/clock.svelte';
import { TIMELINES_ITEMS } from '../loading/first-requests';

export interface TimelineBody {
  timeline_id: string;
  created_at: string;
  events: number;
  anchors?: number | null;
  role: string;
  /** Host time at which that role expires; missing where it does not. */
  role_expires_at?: string | null;
  clock?: ClockBody | null;
  head: { size: number; root: string };
  /** Of which timeline it is a fork, and how many entries of that one's ledger it goes on from. */
  fork?: { parent: string; size: number } | null;
  /** Host time at which it ends by itself; missing where it does not. */
  expires_at?: string | null;
  /** How long contents of reads and refusals are kept; missing where that was never said, and is forever. */
  retention?: Retention | null;
}

/** Durations as the service writes them; null means forever. */
export interface Retention {
  reads: string | null;
  rejections: string | null;
}

interface TimelinesBody {
  timelines: TimelineBody[];
  next_cursor?: string | null;
  has_more: boolean;
}

const STORAGE_KEY = 'timenav-timeline';

class Timelines {
  /** The first pages, in the order of their names. */
  list = $state.raw<TimelineBody[]>([]);
  isRead = $state(false);
  hasMore = $state(false);
  /** Timelines that are known to have ended since the page was opened. */
  ended = $state<string[]>([]);
  /** When the first page was read, by `performance.now()`. */
  readAt = $state(0);
  /** The same of the page that each of them came with. */
  #readAt = new WeakMap<TimelineBody, number>();
  /** Those that were found by their name and are on none of the pages. */
  #found = $state.raw<ReadonlyMap<string, TimelineBody>>(new Map());
  #cursor: string | null = null;
  #reading: Promise<void> | null = null;

  /** Reads the first page anew. */
  read(): Promise<void> {
    const reading = this.page(null).then((body) => {
      this.list = body.timelines;
      this.readAt = performance.now();
      this.#found = new Map();
      this.#took(body);
      this.isRead = true;
    });
    this.#reading = reading;
    return reading;
  }

  /** Waits for a first page that is there, or on its way. */
  async ready(): Promise<void> {
    if (!this.isRead) await (this.#reading ?? this.read());
  }

  /** Reads the next page. */
  async more(signal: AbortSignal): Promise<void> {
    if (!this.hasMore) return;
    const cursor = this.#cursor;
    const body = await this.page(cursor, TIMELINES_ITEMS, signal);
    if (cursor !== this.#cursor) return;
    this.list = [...this.list, ...body.timelines];
    this.#took(body);
  }

  /** Asks for one timeline. Throws where there is none, or not for this user. */
  async know(timelineId: string): Promise<void> {
    this.keep([(await service.timeline({ timeline_id: timelineId })) as TimelineBody]);
  }

  /** Returns when it was read what the clock of a timeline shows, by `performance.now()`. */
  receivedAt(one: TimelineBody): number {
    return this.#readAt.get(one) ?? this.readAt;
  }

  /** Reads what comes after a name. */
  async page(cursor: string | null, limit = TIMELINES_ITEMS, signal?: AbortSignal): Promise<TimelinesBody> {
    const query = { limit, ...(cursor === null ? {} : { cursor }) };
    const before = performance.now();
    const body = (await service.timelines(query, { signal })) as TimelinesBody;
    // The clocks were read somewhere on the way there and back.
    const read = (before + performance.now()) / 2;
    for (const one of body.timelines) this.#readAt.set(one, read);
    return body;
  }

  #took(body: TimelinesBody): void {
    this.hasMore = body.has_more;
    this.#cursor = body.next_cursor ?? null;
  }

  /** Keeps those that were found on none of the pages. */
  keep(timelines: TimelineBody[]): void {
    this.#found = new Map([...this.#found, ...timelines.map((one) => [one.timeline_id, one] as const)]);
  }

  /** Forgets what somebody else could read. */
  forget(): void {
    this.list = [];
    this.#found = new Map();
    this.#reading = null;
    this.isRead = false;
    this.hasMore = false;
  }

  /** Notes that a timeline has ended: nothing of it can be read any more. */
  end(timelineId: string): void {
    this.ended = [...this.ended, timelineId];
    this.list = this.list.filter((timeline) => timeline.timeline_id !== timelineId);
  }

  find(timelineId: string): TimelineBody | undefined {
    return this.list.find((timeline) => timeline.timeline_id === timelineId) ?? this.#found.get(timelineId);
  }

  /** Remembers in this browser which one somebody looked at last. */
  remember(user: string, timelineId: string): void {
    localStorage.setItem(STORAGE_KEY, JSON.stringify({ user, timelineId }));
  }

  /** Returns which one to begin with: the last one, the only one, the demo; or null where one has to choose. */
  first(user: string): string | null {
    return firstOf(this.list, lastOf(localStorage.getItem(STORAGE_KEY), user), this.hasMore);
  }
}

/** Whether a name is one of a timeline that came along with a fork from another service: nobody can ask for it. */
export const isLayer = (name: string): boolean => name.includes('/');

/** Returns what was remembered for a user, or null. */
function lastOf(stored: string | null, user: string): string | null {
  try {
    const last = JSON.parse(stored ?? 'null') as { user?: unknown; timelineId?: unknown } | null;
    return last?.user === user && typeof last.timelineId === 'string' ? last.timelineId : null;
  } catch {
    return null;
  }
}

/** Returns which of the timelines to begin with, or null. */
export function firstOf(list: readonly TimelineBody[], last: string | null, hasMore: boolean): string | null {
  const names = list.map((timeline) => timeline.timeline_id).filter((name) => name !== 'system');
  if (last !== null && (hasMore || names.includes(last) || last === 'system')) return last;
  if (names.length === 1 && !hasMore) return names[0] ?? null;
  return names.includes('demo') ? 'demo' : null;
}

export const timelines = new Timelines();
