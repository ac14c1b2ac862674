/** The timelines that the user may read, with their roles. */
import { service } from '../service/api';
import type { ClockBody } from '../live/clock.svelte';
import { TIMELINES_ITEMS } from '../loading/first-requests';

export interface TimelineBody {
  timeline_id: string;
  created_at: string;
  events: number;
  anchors?: number | null;
  role: string;
  /** Host time at which the role expires; missing if it does not. */
  role_expires_at?: string | null;
  clock?: ClockBody | null;
  head: { size: number; root: string };
  /** The parent timeline, and the number of inherited entries of its ledger. */
  fork?: { parent: string; size: number } | null;
  /** Host time at which the timeline ends; missing if it does not expire. */
  expires_at?: string | null;
  /** Retention of read and rejection details; missing (no setting) means forever. */
  retention?: Retention | null;
}

/** Durations; null means forever. */
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
  /** The loaded pages, sorted by name. */
  list = $state.raw<TimelineBody[]>([]);
  isRead = $state(false);
  hasMore = $state(false);
  /** Timelines that ended since the page was opened. */
  ended = $state<string[]>([]);
  /** `performance.now()` when the first page was read. */
  readAt = $state(0);
  /** Read time of the page that contained each timeline. */
  #readAt = new WeakMap<TimelineBody, number>();
  /** Timelines found by name that are on none of the loaded pages. */
  #found = $state.raw<ReadonlyMap<string, TimelineBody>>(new Map());
  #cursor: string | null = null;
  #reading: Promise<void> | null = null;

  /** Reloads the first page. */
  read(): Promise<void> {
    const reading = this.page(null).then((body) => {
      this.list = body.timelines;
      this.readAt = performance.now();
      this.#found = new Map();
      this.#applyPage(body);
      this.isRead = true;
    });
    this.#reading = reading;
    return reading;
  }

  /** Waits for the first page; loads it if necessary. */
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
    this.#applyPage(body);
  }

  /** Loads one timeline. Throws if it does not exist or is not visible to the user. */
  async know(timelineId: string): Promise<void> {
    this.keep([(await service.timeline({ timeline_id: timelineId })) as TimelineBody]);
  }

  /** Returns when the clock of a timeline was read, by `performance.now()`. */
  receivedAt(entry: TimelineBody): number {
    return this.#readAt.get(entry) ?? this.readAt;
  }

  /** Reads the timelines after a name. */
  async page(cursor: string | null, limit = TIMELINES_ITEMS, signal?: AbortSignal): Promise<TimelinesBody> {
    const query = { limit, ...(cursor === null ? {} : { cursor }) };
    const before = performance.now();
    const body = (await service.timelines(query, { signal })) as TimelinesBody;
    // Estimate the read time of the clocks as the middle of the round trip.
    const read = (before + performance.now()) / 2;
    for (const entry of body.timelines) this.#readAt.set(entry, read);
    return body;
  }

  #applyPage(body: TimelinesBody): void {
    this.hasMore = body.has_more;
    this.#cursor = body.next_cursor ?? null;
  }

  /** Adds timelines that are on none of the loaded pages. */
  keep(timelines: TimelineBody[]): void {
    this.#found = new Map([...this.#found, ...timelines.map((entry) => [entry.timeline_id, entry] as const)]);
  }

  /** Forgets everything, when the user changes. */
  forget(): void {
    this.list = [];
    this.#found = new Map();
    this.#reading = null;
    this.isRead = false;
    this.hasMore = false;
  }

  /** Removes a timeline that has ended. */
  end(timelineId: string): void {
    this.ended = [...this.ended, timelineId];
    this.list = this.list.filter((timeline) => timeline.timeline_id !== timelineId);
  }

  find(timelineId: string): TimelineBody | undefined {
    return this.list.find((timeline) => timeline.timeline_id === timelineId) ?? this.#found.get(timelineId);
  }

  /** Stores the last used timeline in this browser. */
  remember(user: string, timelineId: string): void {
    localStorage.setItem(STORAGE_KEY, JSON.stringify({ user, timelineId }));
  }

  /** Returns the initial timeline: the last used one, the only one or the demo; null if the user has to choose. */
  first(user: string): string | null {
    return firstOf(this.list, lastOf(localStorage.getItem(STORAGE_KEY), user), this.hasMore);
  }
}

/**
 * Whether a name belongs to an ancestor imported with a fork from another service. Such timelines cannot be requested.
 */
export const isLayer = (name: string): boolean => name.includes('/');

/** Returns the stored timeline of a user, or null. */
function lastOf(stored: string | null, user: string): string | null {
  try {
    const last = JSON.parse(stored ?? 'null') as { user?: unknown; timelineId?: unknown } | null;
    return last?.user === user && typeof last.timelineId === 'string' ? last.timelineId : null;
  } catch {
    return null;
  }
}

/** Returns the initial timeline, or null. */
export function firstOf(list: readonly TimelineBody[], last: string | null, hasMore: boolean): string | null {
  const names = list.map((timeline) => timeline.timeline_id).filter((name) => name !== 'system');
  if (last !== null && (hasMore || names.includes(last) || last === 'system')) return last;
  if (names.length === 1 && !hasMore) return names[0] ?? null;
  return names.includes('demo') ? 'demo' : null;
}

export const timelines = new Timelines();
