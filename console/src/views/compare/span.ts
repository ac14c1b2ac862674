/** Which time the differences of two timelines take. */
import { softnessOf, type EventBody } from '../../lib/events/store';
import type { Micros } from '../../lib/instant';

interface Placed {
  a?: EventBody | null;
  b?: EventBody | null;
  at: { a: Micros | null; b: Micros | null };
}

/** Returns from when to when they are, as far as that is known: one that is of a year takes all of it. Null without. */
export function spanOf(differences: readonly Placed[]): { from: Micros; to: Micros } | null {
  const parts = differences.flatMap(({ a, b, at }) =>
    [
      { event: a, time: at.a },
      { event: b, time: at.b },
    ].flatMap(({ event, time }) =>
      time === null ? [] : [{ from: time, to: time + BigInt(event ? softnessOf(event) : 0) }],
    ),
  );
  const [first] = parts;
  if (first === undefined) return null;
  return parts.reduce(
    (span, { from, to }) => ({ from: from < span.from ? from : span.from, to: to > span.to ? to : span.to }),
    first,
  );
}
