/** Text of a paradox in the list, shorter than the sentence of the service that the detail shows. */
import { named } from '../../lib/events/names.svelte';
import { distance, format, parse, type Micros, wholeSecond } from '../../lib/time/instant';
import { stretchText, whenText } from '../../lib/time/when';
import { plain } from '../../lib/text/words';
import { valueText } from '../../lib/events/event';
import type { Paradox } from './paradox';

export function rowText(
  paradox: Paradox,
  names: ReadonlyMap<string, string>,
  precisions?: ReadonlyMap<string, string>,
): string {
  return contradictionText(paradox, names) ?? plain(named(paradox.explanation, names, precisions));
}

/** Returns what two events state about one subject, and when both apply. */
export function contradictionText(
  { code, events, witness }: Paradox,
  names: ReadonlyMap<string, string>,
): string | null {
  const { subject, predicate, values, from, until } = witness;
  if (code !== 'P08' || typeof subject !== 'string' || !Array.isArray(values) || values.length !== 2) return null;
  if (typeof from !== 'string' || typeof until !== 'string') return null;
  const [start, end] = [parse(from), parse(until)];
  if (start === null || end === null) return null;
  const pair = Array.isArray(witness.pair) ? (witness.pair as string[]) : events;
  const texts = values.map((value, index) => {
    const [text, name] = [valueText(value), names.get(pair[index] ?? '')];
    return name === undefined || name === text ? text : `${text} by “${name}”`;
  });
  const length = end > start ? ` (${distance(end - start)})` : '';
  return `${subject}, ${String(predicate)}: ${texts.join(' and ')}, ${bothText(start, end)}${length}`;
}

/** Returns when two events apply at once, with the date only once if it is the same. */
export function bothText(from: Micros, to: Micros): string {
  // A period ends in its last microsecond.
  if (from === to || wholeSecond(to) !== to) return stretchText(from, to);
  return whenText({ time: format(from), end_time: format(to) });
}
