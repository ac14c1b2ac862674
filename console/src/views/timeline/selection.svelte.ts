/** The events of a list that something is to be done with, in the order in which they were chosen. */
import type { EventBody } from '../../lib/events/store';

/** Each is an intervention of its own where they are canceled: more are a matter for a script. */
export const SELECTED_MAX = 200;

export class Selection {
  events = $state.raw<ReadonlyMap<string, EventBody>>(new Map());

  has(eventId: string): boolean {
    return this.events.has(eventId);
  }

  get isFull(): boolean {
    return this.events.size >= SELECTED_MAX;
  }

  toggle(event: EventBody): void {
    const next = new Map(this.events);
    if (!next.delete(event.event_id) && !this.isFull) next.set(event.event_id, event);
    this.events = next;
  }

  /** Chooses these too, as far as there is room. */
  add(events: Iterable<EventBody>): void {
    const next = new Map(this.events);
    for (const event of events) {
      if (next.size >= SELECTED_MAX) break;
      next.set(event.event_id, event);
    }
    this.events = next;
  }

  clear(): void {
    this.events = new Map();
  }
}
