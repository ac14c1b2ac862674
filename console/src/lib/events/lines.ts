/** Events as JSON lines that the import accepts. */
import type { EventBody } from './store';

/** Fields set by the author of an event. The service adds the others. */
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

/** Returns events as NDJSON, in the given order. */
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
