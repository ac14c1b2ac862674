/** Columns of event lists: the default ones and those that the user can add. */
import type { EventBody, EventStore } from '../../../lib/events/store';
import { placeText } from '../../../lib/events/words';
import { parse } from '../../../lib/time/instant';
import { plain } from '../../../lib/text/plain';
import type { Column } from '../../../ui/table/table';
import { groupings } from '../attributes/attributes';
import { member } from '../groups/groups';
import { nameWithUnit, numberOf } from '../attributes/numbers';
import { attributeUnit } from '../attributes/attribute-unit';

const ATTRIBUTE = 'attribute.';
/** Maximum number of attribute columns to offer, the most frequent first. */
const ATTRIBUTES_MAX = 24;

/** Returns the place of an event: its name if it has one, otherwise its coordinates. */
export function whereText(store: EventStore, row: number): string {
  const { location } = store.bodies[row]!;
  return plain(location ?? '') || placeText(store.lats[row]!, store.lons[row]!);
}

/** Returns the text of an additional column. */
export function extraText(event: EventBody, column: string): string {
  if (column === 'actors') return plain((event.actors ?? []).join(', '));
  if (column === 'source') return plain(event.source ?? '');
  if (column === 'id') return event.event_id;
  if (!column.startsWith(ATTRIBUTE)) return '';
  const value = member(event.attributes ?? {}, column.slice(ATTRIBUTE.length));
  if (value === undefined || value === null) return '';
  return plain(typeof value === 'string' ? value : JSON.stringify(value));
}

function extraValue(event: EventBody, column: string): string | number | null {
  if (column.startsWith(ATTRIBUTE)) {
    const number = numberOf(member(event.attributes ?? {}, column.slice(ATTRIBUTE.length)));
    if (number !== null) return number;
  }
  return extraText(event, column) || null;
}

/** Why a single page can only be sorted by time. */
const UNSORTED = 'not sortable: only one page is loaded. With 1,000 or fewer events in view, every column is sortable';

/** Minimum page widths in pixels to show the end time, the actors and attributes by default. */
const ROOM = { ends: 1_100, actors: 1_400, attributes: 2_000 };
/** Number of attributes shown by default. */
const VISIBLE_ATTRIBUTES_MAX = 3;

/**
 * Returns the columns of a list. A single page can only be sorted by time, which the service does. Empty columns are
 * omitted, and wide pages show additional columns by default.
 */
export function eventColumns(
  store: EventStore,
  chosen: readonly string[],
  isAll: boolean,
  { hasMarks = true, width = 0 }: { hasMarks?: boolean; width?: number } = {},
): Column<number>[] {
  const known = groupings(store.bodies).filter((key) => key.startsWith(ATTRIBUTE));
  const attributes = [...new Set([...chosen.filter((candidate) => candidate.startsWith(ATTRIBUTE)), ...known])];
  const by = (value: NonNullable<Column<number>['value']>): Pick<Column<number>, 'value' | 'unsorted'> =>
    isAll ? { value } : { unsorted: UNSORTED };
  const extra = (id: string, title: string, isThere = false): Column<number> => ({
    id,
    title,
    isExtra: !isThere,
    isWide: true,
    isEnd: store.bodies.some((event) => typeof extraValue(event, id) === 'number'),
    ...by((row) => extraValue(store.bodies[row]!, id)),
  });
  return [
    { id: 'select', title: 'Select', isQuiet: true, isTight: true },
    { id: 'time', title: 'When', isFixed: true, isTight: true, value: (row) => store.time(row) },
    { id: 'title', title: 'Event', isFixed: true, ...by((row) => store.titles[row]!) },
    { id: 'where', title: 'Where', isWide: true, ...by((row) => whereText(store, row) || null) },
    {
      id: 'length',
      title: 'Until',
      isExtra: !(width >= ROOM.ends && store.longestMicros > 0),
      isWide: true,
      isTight: true,
      ...by((row) => parse(store.bodies[row]!.end_time ?? '')),
    },
    extra('actors', 'Actors', width >= ROOM.actors && store.bodies.some((event) => event.actors?.length)),
    extra('source', 'Source'),
    extra('id', 'Id'),
    ...attributes.slice(0, ATTRIBUTES_MAX).map((key, index) => {
      const name = key.slice(ATTRIBUTE.length);
      const isThere = width >= ROOM.attributes && index < VISIBLE_ATTRIBUTES_MAX;
      return extra(key, nameWithUnit(plain(name), attributeUnit(name)), isThere);
    }),
    // On a narrow page, marks are dots before the name.
    ...(hasMarks ? [{ id: 'marks', title: 'Marks', isWide: true, isTight: true }] : []),
  ];
}
