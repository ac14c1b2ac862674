/** The timelines that the user may read, for the picker and for whoever needs their roles. */
import { call } from './api';
import type { ClockBody } from './clock.svelte';

export interface TimelineBody {
  timeline_id: string;
  created_at: string;
  events: number;
  anchors: number;
  role: string;
  clock?: ClockBody | null;
  head: { size: number; root: string };
  /** Of which timeline it is a fork, and how many entries of that one's ledger it goes on from. */
  fork?: { of: string; size: number } | null;
  /** Host time at which it ends by itself; missing where it does not. */
  expires_at?: string | null;
  /** How long contents of reads and refusals are kept; missing where that was never said, and is for ever. */
  retention?: Retention | null;
}

/** Durations as the service writes them; null is for ever. */
export interface Retention {
  reads: string | null;
  refusals: string | null;
}

interface TimelinesBody {
  timelines: TimelineBody[];
  next_cursor?: string | null;
  has_more: boolean;
}

const PAGE_ITEMS = 1_000;

class Timelines {
  list = $state<TimelineBody[]>([]);
  isRead = $state(false);
  hasMore = $state(false);
  /** Timelines that are known to have ended since the page was opened. */
  ended = $state<string[]>([]);

  async read(): Promise<void> {
    const body = await call<TimelinesBody>('GET', 'timelines', { query: { limit: PAGE_ITEMS } });
    this.list = body.timelines;
    this.hasMore = body.has_more;
    this.isRead = true;
  }

  /** Forgets what somebody else could read. */
  forget(): void {
    this.list = [];
    this.isRead = false;
    this.hasMore = false;
  }

  /** Notes that a timeline has ended: nothing of it can be read any more. */
  end(timelineId: string): void {
    this.ended = [...this.ended, timelineId];
    this.list = this.list.filter((timeline) => timeline.timeline_id !== timelineId);
  }

  find(timelineId: string): TimelineBody | undefined {
    return this.list.find((timeline) => timeline.timeline_id === timelineId);
  }
}

export const timelines = new Timelines();
