/** What a row of the list says of a paradox: shorter than the sentence of the service, which the detail has. */
import { named } from '../../lib/events/names.svelte';
import { distance, parse } from '../../lib/instant';
import { whenText } from '../../lib/when';
import { plain } from '../../lib/words';
import { valueText } from '../../lib/events/event';
import type { Paradox } from './paradox';

export function rowText(paradox: Paradox, names: ReadonlyMap<string, string>): string {
  return contradictionText(paradox, names) ?? plain(named(paradox.explanation, names));
}

/** Returns what two events say of one subject, and when both do. */
function contradictionText({ code, events, witness }: Paradox, names: ReadonlyMap<string, string>): string | null {
  const { subject, predicate, values, from, until } = witness;
  if (code !== 'P08' || typeof subject !== 'string' || !Array.isArray(values) || values.length !== 2) return null;
  if (typeof from !== 'string' || typeof until !== 'string') return null;
  const [start, end] = [parse(from), parse(until)];
  if (start === null || end === null) return null;
  const pair = Array.isArray(witness.pair) ? (witness.pair as string[]) : events;
  const said = values.map((value, index) => {
    const [text, name] = [valueText(value), names.get(pair[index] ?? '')];
    return name === undefined || name === text ? text : `${text} by “${name}”`;
  });
  const length = end > start ? ` (${distance(end - start)})` : '';
  return `${subject}, ${String(predicate)}: ${said.join(' and ')}, ${whenText({ time: from, end_time: until })}${length}`;
}
