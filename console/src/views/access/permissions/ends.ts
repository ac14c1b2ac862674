/** Until when somebody is in a list: what is offered, how it is said, and what of it has passed. */
import { MINUTE, floorDiv, format, monthName, parse, yearForPeople } from '../../../lib/time/instant';
import { clockText, displayCivil, zonedText } from '../../../lib/time/people';
import { zone } from '../../../lib/time/zone.svelte';
import type { End } from './permissions';

/** What is offered; a value is how long it lasts after it is saved. */
export const SPANS: readonly { id: string; title: string }[] = [
  { id: 'P1D', title: 'for a day' },
  { id: 'P7D', title: 'for a week' },
  { id: 'P30D', title: 'for 30 days' },
];

/** Says an end in few words, such as "until 2 Dec, 14:00"; in another year than this one, with the year. */
export function endText(end: End | null, nowMs: number): string {
  if (end === null) return 'for good';
  if ('in' in end) return SPANS.find(({ id }) => id === end.in)?.title ?? `for ${end.in}`;
  const at = parse(end.at);
  if (at === null) return `until ${end.at}`;
  const { year, month, day } = displayCivil(at);
  const isThisYear = year === displayCivil(BigInt(nowMs) * 1_000n).year;
  const date = `${day} ${monthName(month).slice(0, 3)}${isThisYear ? '' : ` ${yearForPeople(year)}`}`;
  return `until ${date}, ${clockText(at).slice(0, 5)}`;
}

/** Says a moment in full, to the minute. */
export function fullText(text: string): string {
  const at = parse(text);
  return at === null ? text : zonedText(floorDiv(at, MINUTE) * MINUTE);
}

/** Returns whether an end has passed. */
export const hasPassed = (end: End | null, nowMs: number): boolean =>
  end !== null && 'at' in end && Date.parse(end.at) <= nowMs;

/** Reads what a field for date and time holds, in the zone that times are shown in. */
export function endAt(local: string): End | null {
  const at = parse(`${local.length === 16 ? `${local}:00` : local}Z`);
  return at === null ? null : { at: format(zone.from(at)) };
}

/** Returns what a field for date and time is to hold; the year 10000 is none that it knows. */
export function localText(atMs: number): string {
  const at = zone.at(BigInt(Math.floor(atMs / 60_000)) * MINUTE);
  return format(at).slice(0, 16);
}
