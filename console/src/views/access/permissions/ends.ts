/** The end of a permission: choices, texts and expiry. */
import { MINUTE, floorDiv, format, monthName, parse, formatYear } from '../../../lib/time/instant';
import { clockText, displayCivil, zonedText } from '../../../lib/time/display';
import { zone } from '../../../lib/time/zone.svelte';
import type { End } from './permissions';

/** The choices. A value is the duration from the time of saving. */
export const SPANS: readonly { id: string; title: string }[] = [
  { id: 'P1D', title: 'for a day' },
  { id: 'P7D', title: 'for a week' },
  { id: 'P30D', title: 'for 30 days' },
];

/** Formats an end, such as "until 2 Dec, 14:00". The year is added if it is not the current one. */
export function endText(end: End | null, nowMs: number): string {
  if (end === null) return 'for good';
  if ('in' in end) return SPANS.find(({ id }) => id === end.in)?.title ?? `for ${end.in}`;
  const at = parse(end.at);
  if (at === null) return `until ${end.at}`;
  const { year, month, day } = displayCivil(at);
  const isThisYear = year === displayCivil(BigInt(nowMs) * 1_000n).year;
  const date = `${day} ${monthName(month).slice(0, 3)}${isThisYear ? '' : ` ${formatYear(year)}`}`;
  return `until ${date}, ${clockText(at).slice(0, 5)}`;
}

/** Formats a moment in full, to the minute. */
export function fullText(text: string): string {
  const at = parse(text);
  return at === null ? text : zonedText(floorDiv(at, MINUTE) * MINUTE);
}

/** Returns whether an end has passed. */
export const hasPassed = (end: End | null, nowMs: number): boolean =>
  end !== null && 'at' in end && Date.parse(end.at) <= nowMs;

/** Reads the value of a date and time field in the display zone. */
export function endAt(local: string): End | null {
  const at = parse(`${local.length === 16 ? `${local}:00` : local}Z`);
  return at === null ? null : { at: format(zone.from(at)) };
}

/** Returns the value of a date and time field. The field does not support the year 10000. */
export function localText(atMs: number): string {
  const at = zone.at(BigInt(Math.floor(atMs / 60_000)) * MINUTE);
  return format(at).slice(0, 16);
}
