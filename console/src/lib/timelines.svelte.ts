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

  find(timelineId: string): TimelineBody | undefined {
    return this.list.find((timeline) => timeline.timeline_id === timelineId);
  }
}

export const timelines = new Timelines();
