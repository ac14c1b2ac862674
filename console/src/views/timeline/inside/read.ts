/** Asks the service for what a selection is compared by. */
import { service } from '../../../lib/api';
import { firstAfter, GROUPS_MAX, type Counts } from '../../../lib/events/counts';
import { queryOf, type GroupBy, type Question } from '../../../lib/events/filter';
import { readPage } from '../../../lib/events/pages';
import type { EventBody } from '../../../lib/events/store';
import { countText } from '../../../lib/events/words';
import { format, parse, type Micros } from '../../../lib/instant';
import { groupings } from '../attributes';
import type { TimelineModel } from '../model.svelte';
import type { Range } from '../sight.svelte';
import type { Answer, Compared } from './counted';

/** So many events of each side are read, to see which attributes there are. */
const NAMES_OF = 50;

/** Some events of a time. */
export interface Part {
  count: number;
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
export function piecesOf(counts: Counts, { from, to }: Range): (Range & { count: number })[] {
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

/** Returns how many events of some time have each value, as far as one answer counts. */
export async function ask(question: Question, by: GroupBy, range: Range, signal: AbortSignal): Promise<Answer> {
  const body = await service.aggregateEvents(
    { ...queryOf(question), group_by: by, limit: GROUPS_MAX, time_range: `${format(range.from)}/${format(range.to)}` },
    { signal },
  );
  const stop = body.next_cursor && body.counted_until ? parse(body.counted_until) : null;
  return {
    tally: {
      count: body.count - body.ungrouped_count,
      values: new Map(body.groups.map(({ key, count }) => [key, count])),
    },
    events: body.count,
    isCut: body.groups_truncated || body.groups_count > body.groups.length,
    // Other events of the moment in which it stopped were not counted.
    until: body.next_cursor ? (stop ?? range.from) - 1n : null,
  };
}

/** Returns the events that are read already, which begin in some time. */
export function bodiesIn({ shown }: TimelineModel, spans: readonly Range[]): EventBody[] {
  return spans.flatMap(({ from, to }) => shown.bodies.slice(shown.lowerBound(from), shown.lowerBound(to + 1n)));
}

/** Reads a few events of both sides, and returns by what they are told apart: what most have comes first. */
export async function readNames(
  compared: Compared,
  question: Question,
  sight: Range,
  signal: AbortSignal,
): Promise<GroupBy[]> {
  const own = compared.kind === 'times' ? (compared.selected[0] ?? sight) : sight;
  const [first, last] = await Promise.all([
    compared.kind === 'events'
      ? compared.selected.slice(0, NAMES_OF)
      : readPage(question, { ...own, limit: NAMES_OF, signal }).then(({ store }) => store.bodies),
    readPage({ ...question, box: null }, { ...sight, limit: NAMES_OF, order: 'newest', signal }).then(
      ({ store }) => store.bodies,
    ),
  ]);
  return groupings([...first, ...last]);
}

/** Says of how many events something is: "all 34 events", "380,000 events, spread evenly". */
export function partText({ count, isAll }: Part, what: string): string {
  if (isAll) return count === 1 ? `the one event ${what}` : `all ${countText(count, 'event')} ${what}`;
  return `${countText(count, 'event')} ${what}, evenly sampled`;
}
