import { describe, expect, it } from 'vitest';
import { FIELDS, byName, formatOf, mapping, readTable } from './table';

describe('the first rows of a table', () => {
  it('are read with whatever is between the columns', () => {
    expect(readTable('a,b\n1,"x, ""y"""\n2,3\n4,5\n6,7')).toEqual({
      columns: ['a', 'b'],
      rows: [
        ['1', 'x, "y"'],
        ['2', '3'],
        ['4', '5'],
      ],
    });
    expect(readTable('\uFEFFDatum;Was\r\n1.5.2020;Regen, viel\r\n').rows).toEqual([['1.5.2020', 'Regen, viel']]);
    expect(readTable('').columns).toEqual([]);
  });

  it('tell which column is what, and how the service is told', () => {
    const columns = ['When', 'Title', 'LAT'];
    expect(byName(FIELDS[4].names, columns)).toBe('LAT');
    expect(byName(FIELDS[0].names, columns)).toBeNull();
    expect(mapping({}, '', columns)).toBe('');
    expect(mapping({ time: 'When', name: '' }, '|unix', columns)).toBe('{"time":"When|unix","name":""}');
    expect(mapping({ name: 'a|b' }, '', columns)).toBe('{"name":"{a|b}"}');
    expect(mapping({}, '|unix', ['Time'])).toBe('{"time":"Time|unix"}');
  });

  it('have their format in the name of the file', () => {
    expect(['a.CSV', 'b.tsv', 'c.ndjson', 'd.ics', 'e', 'f.geojson'].map(formatOf)).toEqual([
      'csv',
      'csv',
      'ndjson',
      'icalendar',
      '',
      'geojson',
    ]);
  });
});
