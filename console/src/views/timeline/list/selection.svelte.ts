/** Selected events of a list, in the order of selection. */
import type { EventBody } from '../../../lib/events/store';

/** Maximum selection. Changing events creates an intervention for each: use a script for more. */
export const SELECTED_MAX = 1_000;

export class Selection {
  events = $state.raw<ReadonlyMap<string, EventBody>>(new Map());
  /** The last toggled event, as the start of a Shift selection. */
  #last: string | null = null;

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
    this.#last = event.event_id;
  }

  /** Applies the toggle of this row to all rows from the last toggled one. */
  through(event: EventBody, listed: readonly EventBody[]): void {
    const ends = [this.#last, event.event_id].map((id) => listed.findIndex(({ event_id }) => event_id === id));
    const [first, last] = [Math.min(...ends), Math.max(...ends)];
    if (first < 0) {
      this.toggle(event);
      return;
    }
    const rows = listed.slice(first, last + 1);
    if (this.has(event.event_id)) {
      const next = new Map(this.events);
      for (const { event_id } of rows) next.delete(event_id);
      this.events = next;
    } else this.add(rows);
    this.#last = event.event_id;
  }

  /** Selects more events, up to the limit. */
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
    this.#last = null;
  }
}
