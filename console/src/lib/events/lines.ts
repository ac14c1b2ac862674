/** Events as lines of JSON, in the form in which they are recorded: what is written here can be imported again. */
import type { EventBody } from './store';

/** What whoever records an event says of it; the rest is the service's. */
const FIELDS = [
  'event_id',
  'time',
  'end_time',
  'precision',
  'kind',
  'name',
  'description',
  'location',
  'geo',
  'causes',
  'actors',
  'attributes',
  'asserts',
  'source',
  'sequence',
] as const satisfies readonly (keyof EventBody)[];

/** Returns events as NDJSON, the earliest first as they are given. */
export function linesOf(events: Iterable<EventBody>): string {
  let lines = '';
  for (const event of events) {
    const fields = FIELDS.flatMap((field) => {
      const value = event[field];
      return value === undefined || value === null ? [] : [[field, value] as const];
    });
    lines += `${JSON.stringify(Object.fromEntries(fields))}\n`;
  }
  return lines;
}
