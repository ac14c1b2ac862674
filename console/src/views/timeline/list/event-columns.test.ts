import { expect, test, vi } from 'vitest';
import { EventStore } from '../../../lib/events/store';
import { isVisible } from '../../../ui/table/table';
import { eventColumns } from './event-columns';

// Units are stored in the address, which is missing here.
vi.mock('../attributes/attribute-unit', () => ({ attributeUnit: () => '' }));

function columnIds(event: Record<string, unknown>, width: number, chosen: string[] = [], hasMarks = false): string[] {
  const store = new EventStore();
  store.push({ event_id: 'one', time: '2013-01-01T10:17:00Z', description: 'UA 1545', ...event });
  const columns = eventColumns(store, chosen, true, { hasMarks, width });
  return columns.filter((column) => isVisible(column, chosen)).map(({ id }) => id);
}

const flight = { end_time: '2013-01-01T14:04:00Z', actors: ['N14228'], attributes: { carrier: 'UA' } };

test('a list shows the columns that fit, and no empty column', () => {
  const always = ['select', 'time', 'title', 'where'];
  expect(columnIds(flight, 390)).toEqual(always);
  expect(columnIds(flight, 1_280)).toEqual([...always, 'length']);
  expect(columnIds(flight, 1_440)).toEqual([...always, 'length', 'actors']);
  expect(columnIds(flight, 2_560)).toEqual([...always, 'length', 'actors', 'attribute.carrier']);
  expect(columnIds({}, 2_560)).toEqual(always);
  expect(columnIds({}, 2_560, [], true)).toEqual([...always, 'marks']);
});

test('a column follows an explicit choice to show or hide it', () => {
  expect(columnIds(flight, 390, ['length'])).toContain('length');
  expect(columnIds(flight, 2_560, ['-length', '-attribute.carrier'])).not.toContain('length');
  expect(columnIds(flight, 2_560, ['-length', '-attribute.carrier'])).not.toContain('attribute.carrier');
});
