/** Which attributes have a column of their own in a CSV file. */
import type { EventBody } from '../../../lib/events/store';
import { groupings } from '../attributes/attributes';

const ATTRIBUTE = 'attribute.';
/** So many, those first that most events have: all are in the address of the file. */
const COLUMNS_MAX = 50;

/** What a CSV file has a column of anyway. */
const TAKEN = new Set(
  (
    'event_id time end_time precision name description location lat lon radius_m causes actors kind asserts ' +
    'attributes source sequence'
  ).split(' '),
);

/** Returns the attributes of events that can have a column, as the service wants them named. */
export function columnsOf(events: readonly EventBody[]): string[] {
  const canHave = (key: string): boolean => {
    const name = key.slice(ATTRIBUTE.length);
    return key.startsWith(ATTRIBUTE) && name !== '' && !name.includes(',') && !TAKEN.has(name);
  };
  return groupings(events).filter(canHave).slice(0, COLUMNS_MAX);
}
