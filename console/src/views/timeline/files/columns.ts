/** Attributes with their own column in a CSV export. */
import type { EventBody } from '../../../lib/events/store';
import { groupings } from '../attributes/attributes';

const ATTRIBUTE = 'attribute.';
/** Maximum number of columns: all of them are in the URL of the file. */
const COLUMNS_MAX = 50;

/** Standard columns of the CSV export. */
const TAKEN = new Set(
  (
    'event_id time end_time precision name description location lat lon radius_m causes actors kind asserts ' +
    'attributes source sequence'
  ).split(' '),
);

/** Returns the attributes that can have a column, in the notation of the API. */
export function columnsOf(events: readonly EventBody[]): string[] {
  const canHave = (key: string): boolean => {
    const name = key.slice(ATTRIBUTE.length);
    return key.startsWith(ATTRIBUTE) && name !== '' && !name.includes(',') && !TAKEN.has(name);
  };
  return groupings(events).filter(canHave).slice(0, COLUMNS_MAX);
}
