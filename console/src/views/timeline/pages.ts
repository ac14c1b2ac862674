/** Events page by page from the service, where there are too many to read all of them. */
import { call } from '../../lib/api';
import { format, type Micros } from '../../lib/instant';
import { EventStore, type EventBody } from './store';

export interface EventPage {
  store: EventStore;
  /** Where the next page begins; null after the last one. */
  next: string | null;
}

interface PageBody {
  events: EventBody[];
  next_cursor?: string | null;
  has_more: boolean;
}

export async function readPage(
  timeline: string,
  from: Micros,
  to: Micros,
  cursor: string | null,
  limit: number,
  signal: AbortSignal,
): Promise<EventPage> {
  const body = await call<PageBody>('GET', 'v1/monitor-events', {
    query: { timeline_id: timeline, location: '*', time_range: `${format(from)}/${format(to)}`, limit, cursor },
    signal,
  });
  const store = new EventStore();
  for (const event of body.events) store.push(event);
  return { store, next: body.has_more ? (body.next_cursor ?? null) : null };
}
