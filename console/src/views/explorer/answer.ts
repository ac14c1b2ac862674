/** Statuses, sizes and bodies of responses as text. */

/** Returns a duration of host time, such as `4.2 ms`. */
export function took(ms: number): string {
  if (ms < 1_000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}

/** HTTP/2 sends no reason phrases. */
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

export const reason = (status: number, statusText: string): string => REASONS[status] ?? statusText;

/** Returns the class that colors a status. */
export function grade(status: number): 'good' | 'warn' | 'bad' {
  if (status >= 200 && status < 400) return 'good';
  return status >= 500 || status === 0 ? 'bad' : 'warn';
}

/** Returns the first bytes of a binary body in hexadecimal, 16 a line. */
export function hexLines(bytes: Uint8Array, most = 2_048): string {
  const hex = [...bytes.subarray(0, most)].map((byte) => byte.toString(16).padStart(2, '0')).join(' ');
  return hex.replace(/(.{47}) /g, '$1\n');
}

/** Endings of the files that responses are saved as. */
const ENDINGS: [string, string][] = [
  ['ndjson', 'ndjson'],
  ['geo+json', 'geojson'],
  ['json', 'json'],
  ['csv', 'csv'],
  ['calendar', 'ics'],
  ['octet', 'bin'],
];

/** Returns the name of the file that a response is saved as. */
export function fileName(operation: string, type: string): string {
  const ending = ENDINGS.find(([part]) => type.includes(part))?.[1] ?? 'txt';
  return `${operation.replace(/[^\w-]+/g, '-')}.${ending}`;
}
