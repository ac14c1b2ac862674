/** The time span of the differences of two timelines. */
import { uncertaintyOf, type EventBody } from '../../lib/events/store';
import { HOUR, type Micros } from '../../lib/time/instant';

interface EventPair {
  a?: EventBody | null;
  b?: EventBody | null;
  at: { a: Micros | null; b: Micros | null };
  until: { a: Micros | null; b: Micros | null };
}

interface Span {
  from: Micros;
  to: Micros;
}

/** Extends a span to include these instants, and to at least an hour. */
export function withSurroundings({ from, to }: Span, around: readonly Micros[]): Span {
  const wide = around.reduce(
    (span, instant) => ({ from: instant < span.from ? instant : span.from, to: instant > span.to ? instant : span.to }),
    { from, to },
  );
  const missing = HOUR - (wide.to - wide.from);
  return missing <= 0n ? wide : { from: wide.from - missing / 2n, to: wide.to + missing / 2n };
}

/**
 * Returns the time span of the differences, or null if there are none. Includes the imprecision of times (a
 * year-precision time covers the year) and end times.
 */
export function spanOf(differences: readonly EventPair[]): Span | null {
  const parts = differences.flatMap(({ a, b, at, until }) =>
    [
      { event: a, time: at.a, end: until.a },
      { event: b, time: at.b, end: until.b },
    ].flatMap(({ event, time, end }) => {
      if (time === null) return [];
      const soft = time + BigInt(event ? uncertaintyOf(event) : 0);
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
