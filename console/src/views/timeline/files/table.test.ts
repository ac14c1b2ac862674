import { describe, expect, it } from 'vitest';
import { FIELDS, byName, formatIn, formatOf, guessedTime, isTimeless, mapping, markersOf, readTable } from './table';

describe('the first rows of a table', () => {
  it('are parsed with any delimiter', () => {
    expect(readTable('a,b\n1,"x, ""y"""\n2,3\n4,5\n6,7')).toEqual({
      columns: ['a', 'b'],
      rows: [
        ['1', 'x, "y"'],
        ['2', '3'],
        ['4', '5'],
      ],
      delimiter: ',',
    });
    expect(readTable('\uFEFFDatum;Was\r\n1.5.2020;Regen, viel\r\n').rows).toEqual([['1.5.2020', 'Regen, viel']]);
    expect(readTable('').columns).toEqual([]);
  });

  it('show which column is which field, as sent to the service', () => {
    const columns = ['When', 'Title', 'LAT'];
    expect(byName(FIELDS[4].names, columns)).toBe('LAT');
    expect(byName(FIELDS[0].names, columns)).toBeNull();
    expect(mapping({}, '', columns)).toBe('');
    expect(mapping({ time: 'When', name: '' }, '|unix', columns)).toBe('{"time":"When|unix","name":""}');
    expect(mapping({ name: 'a|b' }, '', columns)).toBe('{"name":"{a|b}"}');
    expect(mapping({}, '|unix', ['Time'])).toBe('{"time":"Time|unix"}');
  });

  it('show which column has the time, and its format', () => {
    const guessed = (text: string): unknown => guessedTime(readTable(text));
    expect(guessed('id,committer_time,author_time\n1,1614136748,1614134562')).toEqual({
      column: 'committer_time',
      suffix: '|unix',
    });
    expect(guessed('id,time\n1,1614136748000')).toEqual({ column: 'time', suffix: '|unix_ms' });
    expect(guessed('Updated,n\n2005-08-29,1')).toEqual({ column: 'Updated', suffix: '|YYYY-MM-DD' });
    expect(guessed('created_at\n2005-08-29T06:00:00Z')).toEqual({ column: 'created_at', suffix: '' });
    // A number that is not a time, a word that contains one, and an empty column.
    expect([guessed('runtime,n\n12,1614136748'), guessed('when\nnever'), guessed('date\n')]).toEqual([
      null,
      null,
      null,
    ]);
    const table = readTable('When,n\nnever,1');
    expect([isTimeless(table, {}), isTimeless(table, { time: 'When' })]).toEqual([true, false]);
    expect(isTimeless(readTable('time,n'), { time: '' })).toBe(true);
  });

  it('reveal numbers that mark missing values', async () => {
    const found = (text: string): Promise<unknown> => markersOf(new Blob([text]).stream(), readTable(text));
    expect(await found('t,wind,temp\n1,10,-13.5\n2,-99,-99\n3,-99.0,8\n4,,-999.0')).toEqual([
      { column: 'wind', text: '-99', count: 2 },
      { column: 'temp', text: '-999.0', count: 1 },
    ]);
    expect(await found('t;wind\r\n1;-99\r\n2;calm\r\n3;12\r\n')).toEqual([]);
    expect(await found('t,wind\n1,-99')).toEqual([]);
    const marker = { column: 'wind', text: '-99', count: 2 };
    const other = { column: 'wind', text: '-999', count: 2 };
    expect(mapping({}, '', ['t', 'wind'], [marker, other])).toBe('{"missing":{"wind":["-99","-999"]}}');
  });

  it('have the format of the file extension', () => {
    expect(['a.CSV', 'b.tsv', 'c.ndjson', 'd.ics', 'e', 'f.geojson'].map(formatOf)).toEqual([
      'csv',
      'csv',
      'ndjson',
      'icalendar',
      '',
      'geojson',
    ]);
    expect(['a.geojsonl', 'b.GeoJSONs', 'c.geojsonseq'].map(formatOf)).toEqual(['geojson', 'geojson', 'geojson']);
    expect(['a.ifb', 'b.icalendar'].map(formatOf)).toEqual(['icalendar', 'icalendar']);
  });

  it('detect traces by their content', () => {
    expect(formatIn('t.json', '{"data": [{"traceID": "1", "spans": []}]}')).toBe('jaeger');
    expect(formatIn('t.json', '{\n "resourceSpans": [{"traceId": "1"}]}')).toBe('otlp');
    expect(formatIn('t.json', ' [{"traceId":"1","localEndpoint":{}}]')).toBe('zipkin');
    expect(formatIn('t', '{"resourceSpans":[]}\n')).toBe('otlp');
    expect([formatIn('a.json', '[{"time":"2005-08-29"}]'), formatIn('a.csv', '"traceID":1')]).toEqual(['json', 'csv']);
  });
});
