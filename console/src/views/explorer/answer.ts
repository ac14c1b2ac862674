/** What an answer is, in words. */

/** Returns a number of bytes for people. */
export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const units = ['kB', 'MB', 'GB'];
  let value = bytes / 1_000;
  let unit = 0;
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit++;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit] ?? ''}`;
}

/** Returns a stretch of host time for people. */
export function took(ms: number): string {
  if (ms < 1_000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

/** HTTP/2 has no reason phrases, so they are told here. */
const REASONS: Record<number, string> = {
  200: 'OK',
  201: 'Created',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  412: 'Precondition Failed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
};

export function reason(status: number, told: string): string {
  return REASONS[status] ?? told;
}

/** Returns the class of a status: how it went. */
export function grade(status: number): 'good' | 'warn' | 'bad' {
  if (status >= 200 && status < 400) return 'good';
  return status >= 500 || status === 0 ? 'bad' : 'warn';
}

/** Returns the first bytes as they stand in a file: hexadecimal, and letters beside them. */
export function hexLines(bytes: Uint8Array, most = 2_048): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, most); at += 16) {
    const row = [...bytes.subarray(at, Math.min(at + 16, most))];
    const hex = row.map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
    const letters = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '·')).join('');
    lines.push(`${at.toString(16).padStart(6, '0')}  ${hex.padEnd(47)}  ${letters}`);
  }
  return lines.join('\n');
}

/** Returns a name under which an answer is saved. */
export function fileName(operation: string, type: string): string {
  const ends: [RegExp, string][] = [
    [/json$/, 'json'],
    [/ndjson/, 'ndjson'],
    [/csv/, 'csv'],
    [/calendar/, 'ics'],
    [/event-stream|plain/, 'txt'],
    [/octet/, 'bin'],
  ];
  const end = type.includes('ndjson')
    ? 'ndjson'
    : type.includes('geo+json')
      ? 'geojson'
      : (ends.find(([shape]) => shape.test(type.split(';')[0] ?? ''))?.[1] ?? 'txt');
  return `${operation.replace(/[^\w-]+/g, '-')}.${end}`;
}
