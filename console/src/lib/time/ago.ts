/** Relative times. */

const unit = (count: number, name: string): string => `${count} ${name}${count === 1 ? '' : 's'}`;

/** Returns a host time relative to now, such as "3 minutes ago" or "in 9 hours". */
export function ago(text: string, nowMs: number): string {
  const seconds = Math.round((nowMs - Date.parse(text)) / 1_000);
  const size = Math.abs(seconds);
  if (Number.isNaN(size)) return '';
  if (size < 45) return seconds >= 0 ? 'just now' : 'in a moment';
  const length =
    size < 3_570
      ? unit(Math.round(size / 60), 'minute')
      : size < 84_600
        ? unit(Math.round(size / 3_600), 'hour')
        : size < 31_500_000
          ? unit(Math.round(size / 86_400), 'day')
          : unit(Math.round(size / 31_556_952), 'year');
  return seconds >= 0 ? `${length} ago` : `in ${length}`;
}
