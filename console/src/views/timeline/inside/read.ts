/** Reads events of some stretches of time: all of them where they are few, else some that are spread evenly. */
import { firstAfter, type Counts } from '../../../lib/events/counts';
import type { Question } from '../../../lib/events/filter';
import { readPage } from '../../../lib/events/pages';
import type { EventBody } from '../../../lib/events/store';
import { countText } from '../../../lib/events/words';
import type { Micros } from '../../../lib/instant';
import type { TimelineModel } from '../model.svelte';
import type { Range } from '../sight.svelte';

/**
 * Of many events, those are read that follow on so many moments. Each is a question, and an entry of the ledger.
 */
const MOMENTS = 10;
/** A browser has six connections to a service, and needs some for what is looked at meanwhile. */
const AT_ONCE = 3;

/** Some events of a time. */
export interface Part {
  bodies: readonly EventBody[];
  /** How many there are in that time. */
  count: number;
  isExact: boolean;
  /** Whether these are all of them. */
  isAll: boolean;
}

/** Returns what is in sight and not in a range: nothing, or one stretch, or two. */
export function around(sight: Range, range: Range): Range[] {
  const before = { from: sight.from, to: range.from > sight.to ? sight.to : range.from - 1n };
  const after = { from: range.to < sight.from ? sight.from : range.to + 1n, to: sight.to };
  return [before, after].filter(({ from, to }) => from <= to);
}

/** Returns moments between each two of which about as many events begin, in stretches of time that are in order. */
export function spread(counts: Counts, spans: readonly Range[], moments: number): Micros[] {
  const pieces = spans.flatMap((span) => piecesOf(counts, span));
  const all = pieces.reduce((sum, { count }) => sum + count, 0);
  const found: Micros[] = [];
  let [index, before] = [0, 0];
  for (let place = 0; place < moments && all > 0; place += 1) {
    const wanted = (all * place) / moments;
    while (index < pieces.length - 1 && before + pieces[index]!.count <= wanted) before += pieces[index++]!.count;
    const { from, to, count } = pieces[index]!;
    found.push(from + BigInt(Math.floor((Number(to - from) * (wanted - before)) / count)));
  }
  return [...new Set(found)];
}

/** Returns the counted stretches of a time, with about as many events as are in the part of each that is in it. */
function piecesOf(counts: Counts, { from, to }: Range): (Range & { count: number })[] {
  const pieces: (Range & { count: number })[] = [];
  for (let index = firstAfter(counts, from); index < counts.buckets.length; index += 1) {
    const bucket = counts.buckets[index]!;
    if (bucket.from > to) break;
    const low = bucket.from > from ? bucket.from : from;
    const high = bucket.to < to ? bucket.to : to + 1n;
    const count = (bucket.count * Number(high - low)) / Number(bucket.to - bucket.from);
    if (count > 0) pieces.push({ from: low, to: high, count });
  }
  return pieces;
}

/** Reads events that begin in stretches of time, without some of them. */
export async function readPart(
  model: TimelineModel,
  spans: readonly Range[],
  without: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<Part> {
  const counted = spans.map(({ from, to }) => model.countIn(from, to));
  const count = Math.max(0, counted.reduce((sum, one) => sum + one.count, 0) - without.size);
  const isExact = counted.every((one) => one.isExact);
  const { question, singlesMax, counts, shown } = model;
  const others = (bodies: readonly EventBody[]): EventBody[] => bodies.filter(({ event_id }) => !without.has(event_id));
  if (!model.isFar) {
    const bodies = spans.flatMap(({ from, to }) =>
      shown.bodies.slice(shown.lowerBound(from), shown.lowerBound(to + 1n)),
    );
    return { bodies: others(bodies), count: others(bodies).length, isExact: true, isAll: true };
  }
  if (count <= singlesMax) {
    const pages = await Promise.all(
      spans.map(({ from, to }) => readPage(question, { from, to, limit: singlesMax, signal })),
    );
    const bodies = others(pages.flatMap(({ store }) => store.bodies));
    if (pages.every(({ next }) => next === null)) return { bodies, count: bodies.length, isExact: true, isAll: true };
  }
  const moments = counts === null ? [] : spread(counts, spans, MOMENTS);
  const each = Math.max(1, Math.floor(singlesMax / MOMENTS));
  const bodies = others(await readFrom(question, spans, moments, each, signal));
  return { bodies, count, isExact, isAll: isExact && bodies.length >= count };
}

/** Reads the events that follow on some moments, as far as the stretch of time reaches that each is in. */
async function readFrom(
  question: Question,
  spans: readonly Range[],
  moments: readonly Micros[],
  limit: number,
  signal: AbortSignal,
): Promise<EventBody[]> {
  const rest = moments.flatMap((from) =>
    spans.filter((span) => from >= span.from && from <= span.to).map(({ to }) => ({ from, to })),
  );
  const found = new Map<string, EventBody>();
  const work = async (): Promise<void> => {
    for (let part = rest.shift(); part !== undefined; part = rest.shift()) {
      const { store } = await readPage(question, { ...part, limit, signal });
      for (const body of store.bodies) found.set(body.event_id, body);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return [...found.values()];
}

/** Says of how many events something is: "All 34 events", "1,000 of about 120,000 events, spread evenly". */
export function partText({ bodies, count, isExact, isAll }: Part, what: string): string {
  if (isAll) return bodies.length === 1 ? `the one event ${what}` : `all ${countText(bodies.length, 'event')} ${what}`;
  const some = bodies.length.toLocaleString('en');
  return `${some} of ${isExact ? '' : 'about '}${countText(count, 'event')} ${what}, spread evenly`;
}
