/** Returns a value of JSON as a field or an address shows it: objects as JSON, anything else as it is. */
export function jsonText(value: unknown): string {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? JSON.stringify(value) : String(value);
}
