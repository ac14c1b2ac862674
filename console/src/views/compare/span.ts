/** Which time the differences of two timelines take. */
import { softnessOf, type EventBody } from '../../lib/events/store';
import type { Micros } from '../../lib/instant';

interface Placed {
  a?: EventBody | null;
  b?: EventBody | null;
  at: { a: Micros | null; b: Micros | null };
  until: { a: Micros | null; b: Micros | null };
}

/** Returns from when to when they are, as far as that is known: one that is of a year takes all of it, and one
 * that lasts is in it with its end. Null without. */
export function spanOf(differences: readonly Placed[]): { from: Micros; to: Micros } | null {
  const parts = differences.flatMap(({ a, b, at, until }) =>
    [
      { event: a, time: at.a, end: until.a },
      { event: b, time: at.b, end: until.b },
    ].flatMap(({ event, time, end }) => {
      if (time === null) return [];
      const soft = time + BigInt(event ? softnessOf(event) : 0);
      return [{ from: time, to: end !== null && end > soft ? end : soft }];
    }),
  );
  const [first] = parts;
  if (first === undefined) return null;
  return parts.reduce(
    (span, { from, to }) => ({ from: from < span.from ? from : span.from, to: to > span.to ? to : span.to }),
    first,
  );
}
