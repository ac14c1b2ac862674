/** Reads the first rows of a table for the column dialog. The service parses the file itself. */

export interface Table {
  columns: string[];
  rows: string[][];
  delimiter: string;
}

const DELIMITERS = [',', '\t', ';', '|'];

/** Parses the first rows of a CSV text. The last row may be truncated and is omitted if there are enough others. */
export function readTable(text: string, rowsMax = 3): Table {
  const body = text.startsWith('\uFEFF') ? text.slice(1) : text;
  const first = body.split(/\r?\n|\r/, 1)[0] ?? '';
  const count = (char: string): number => first.split(char).length;
  const delimiter = DELIMITERS.reduce((best, char) => (count(char) > count(best) ? char : best), ',');
  const [columns = [], ...rows] = cells(body, delimiter, rowsMax + 1);
  return { columns: columns.map((column) => column.trim()), rows, delimiter };
}

function cells(text: string, delimiter: string, rowsMax: number): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let at = 0; at < text.length && rows.length < rowsMax; at += 1) {
    const char = text.charAt(at);
    if (isQuoted) {
      if (char !== '"') cell += char;
      else if (text.charAt(at + 1) === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (char === '"' && cell === '') isQuoted = true;
    else if (char === delimiter) {
      row.push(cell);
      cell = '';
    } else if (char === '\n' || char === '\r') {
      if (char === '\r' && text.charAt(at + 1) === '\n') at += 1;
      row.push(cell);
      rows.push(row);
      [row, cell] = [[], ''];
    } else cell += char;
  }
  if (rows.length < rowsMax && (cell !== '' || row.length > 0)) rows.push([...row, cell]);
  return rows.filter((cells) => cells.some((text) => text.trim() !== ''));
}

/** Fields that a column can be assigned to, with the column names that the service recognizes. */
export const FIELDS = [
  { field: 'time', label: 'Time', names: ['time', 'timestamp', 'date_time', 'datetime'] },
  { field: 'name', label: 'Name', names: ['name'] },
  { field: 'description', label: 'Description', names: ['description'] },
  { field: 'location', label: 'Place', names: ['location', 'place'] },
  { field: 'lat', label: 'Latitude', names: ['lat', 'latitude'] },
  { field: 'lon', label: 'Longitude', names: ['lon', 'lng', 'long', 'longitude'] },
  { field: 'actors', label: 'Actors', names: ['actors'] },
  { field: 'event_id', label: 'Id', names: ['event_id', 'id'] },
] as const;

/** Supported time formats of a column. */
export const TIMES = [
  { suffix: '', label: 'a timestamp' },
  { suffix: '|unix', label: 'seconds since 1970' },
  { suffix: '|unix_ms', label: 'milliseconds since 1970' },
  { suffix: '|YYYY-MM-DD', label: 'a day, such as 2005-08-29' },
  { suffix: '|DD/MM/YYYY', label: 'a day, such as 29/08/2005' },
  { suffix: '|MM/DD/YYYY', label: 'a day, such as 08/29/2005' },
] as const;

/** Returns the column that the service assigns to a field by default, or null. */
export function byName(names: readonly string[], columns: readonly string[]): string | null {
  for (const name of names) {
    const found = columns.find((column) => column.toLowerCase() === name);
    if (found !== undefined) return found;
  }
  return null;
}

/** Column names that suggest a time, and the number of digits of a Unix time in seconds and milliseconds. */
const TIME_WORDS = /time|date|when|epoch|(^|_)(at|ts)$/i;
const SINCE_1970: readonly (readonly [digits: RegExp, suffix: string])[] = [
  [/^\d{9,10}$/, '|unix'],
  [/^\d{12,13}$/, '|unix_ms'],
];
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Returns the time format of a column from its first cells; null if they are not times. */
function suffixOf({ columns, rows }: Table, column: string): string | null {
  const cells = rows.map((row) => (row[columns.indexOf(column)] ?? '').trim()).filter((cell) => cell !== '');
  const isAll = (pattern: RegExp): boolean => cells.length > 0 && cells.every((cell) => pattern.test(cell));
  if (isAll(TIMESTAMP)) return '';
  return isAll(DAY) ? '|YYYY-MM-DD' : (SINCE_1970.find(([digits]) => isAll(digits))?.[1] ?? null);
}

/** Returns the time column and its format: the column with a default name, or one that is likely to have the time. */
export function guessedTime(table: Table): { column: string; suffix: string } | null {
  const own = byName(FIELDS[0].names, table.columns);
  for (const column of own === null ? table.columns.filter((name) => TIME_WORDS.test(name)) : [own]) {
    const suffix = suffixOf(table, column);
    if (suffix !== null) return { column, suffix };
  }
  return null;
}

/** Whether no column is assigned to the time. */
export const isTimeless = (table: Table, chosen: Readonly<Record<string, string>>): boolean =>
  (chosen.time ?? byName(FIELDS[0].names, table.columns) ?? '') === '';

/** A number that marks missing values in a column, as it is written there, and how often it occurs. */
export interface Marker {
  column: string;
  text: string;
  count: number;
}

/** Numbers that data archives write for missing values. */
const MARKERS = [-99, -999, -9999];
/** If a column has negative values, a marker must exceed the largest magnitude by this factor. */
const FAR = 10;
/** Maximum number of bytes to scan. */
const SCANNED_BYTES_MAX = 64 << 20;

/** Statistics of a numeric column. */
interface Numbers {
  markers: Map<number, { text: string; count: number }>;
  numbers: number;
  others: number;
  least: number;
  largest: number;
}

function note(column: Numbers, cell: string): void {
  const text = cell.trim();
  if (text === '') return;
  const number = Number(text);
  if (!Number.isFinite(number)) column.others += 1;
  else if (MARKERS.includes(number)) {
    const known = column.markers.get(number);
    if (known) known.count += 1;
    else column.markers.set(number, { text, count: 1 });
  } else {
    column.numbers += 1;
    column.least = Math.min(column.least, number);
    column.largest = Math.max(column.largest, Math.abs(number));
  }
}

/** Returns the numbers that mark missing values in a file: those far from all other values of their column. */
export async function markersOf(
  contents: ReadableStream<Uint8Array>,
  { columns, delimiter }: Table,
): Promise<Marker[]> {
  const found = columns.map((): Numbers => ({ markers: new Map(), numbers: 0, others: 0, least: 0, largest: 0 }));
  let rest = '';
  let isFirst = true;
  const take = (line: string): void => {
    // Skip rows with quotation marks: a quoted cell may contain delimiters, and numbers need no quotes.
    if (!isFirst && !line.includes('"')) {
      for (const [index, cell] of line.split(delimiter).entries()) if (found[index]) note(found[index], cell);
    }
    isFirst = false;
  };
  const reader = contents.getReader();
  const decoder = new TextDecoder();
  for (let bytes = 0; ;) {
    const { value, done } = bytes < SCANNED_BYTES_MAX ? await reader.read() : { value: undefined, done: true };
    bytes += value?.length ?? 0;
    const lines = (rest + decoder.decode(value, { stream: !done })).split(/\r?\n/);
    rest = lines.pop() ?? '';
    lines.forEach(take);
    if (done) break;
  }
  void reader.cancel().catch(() => {});
  if (rest !== '') take(rest);
  return found.flatMap(({ markers, numbers, others, least, largest }, index) => {
    if (numbers === 0 || others * 10 > numbers) return [];
    const far = [...markers].filter(([number]) => least >= 0 || largest * FAR <= -number);
    return far.map(([, marker]) => ({ column: columns[index]!, ...marker }));
  });
}

/** Returns the mapping. Fields without a chosen column are left to the service. */
export function mapping(
  chosen: Readonly<Record<string, string>>,
  timeSuffix: string,
  columns: readonly string[],
  missing: readonly Marker[] = [],
): string {
  const entries = Object.entries(chosen).map(([field, column]) => [field, column === '' ? '' : named(column)] as const);
  const map: Record<string, unknown> = Object.fromEntries(entries);
  if (timeSuffix !== '') {
    const time = chosen.time ?? byName(FIELDS[0].names, columns);
    if (time) map.time = named(time) + timeSuffix;
  }
  if (missing.length > 0) {
    const texts = (column: string): string[] =>
      missing.filter((item) => item.column === column).map(({ text }) => text);
    map.missing = Object.fromEntries(missing.map(({ column }) => [column, texts(column)]));
  }
  return Object.keys(map).length === 0 ? '' : JSON.stringify(map);
}

/** Column names with special characters of the mapping syntax need braces. */
const named = (column: string): string => (/[|,{}']/.test(column) ? `{${column}}` : column);

const FORMATS: Record<string, string> = {
  csv: 'csv',
  tsv: 'csv',
  tab: 'csv',
  ndjson: 'ndjson',
  jsonl: 'ndjson',
  logfmt: 'logfmt',
  geojson: 'geojson',
  geojsonl: 'geojson',
  geojsons: 'geojson',
  geojsonseq: 'geojson',
  json: 'json',
  ics: 'icalendar',
  ical: 'icalendar',
  ifb: 'icalendar',
  icalendar: 'icalendar',
};

/** Returns the format of a file extension, or an empty string. */
export function formatOf(name: string): string {
  return FORMATS[name.slice(name.lastIndexOf('.') + 1).toLowerCase()] ?? '';
}

/** Member names that identify a trace format. */
const TRACES: readonly (readonly [member: RegExp, format: string])[] = [
  [/"resourceSpans"\s*:/, 'otlp'],
  [/"traceID"\s*:/, 'jaeger'],
  [/"localEndpoint"\s*:/, 'zipkin'],
];

/** Returns the format of a file. Traces have a JSON extension and are detected by their content. */
export function formatIn(name: string, head: string): string {
  const format = formatOf(name);
  const isJson = ['', 'json', 'ndjson'].includes(format) && /^\s*[[{]/.test(head);
  return (isJson && TRACES.find(([member]) => member.test(head))?.[1]) || format;
}
