/**
 * Compares events by aggregation in the service if they are not all loaded. Millions of events need no more requests
 * than a few thousand, and no events are transferred.
 */
import type { Counts } from '../../../lib/events/counts';
import type { GroupBy } from '../../../lib/events/filter';
import type { EventBody } from '../../../lib/events/store';
import type { Micros } from '../../../lib/time/instant';
import type { Range } from '../viewport.svelte';
import { facetOf, inOrder, NONE, tally, type Facet, type SideTally, type Tally } from './facets';
import { piecesOf, spread, type Part } from './ranges';

/** Maximum number of attributes to compare, the most frequent first. */
export const COMPARED_MAX = 12;

/** Maximum number of ranges per side; an interruption adds one. */
const RANGES_MAX = 5;

/**
 * Target number of events per range, below the limit of a response (`aggregate_events_read_max`), as far as it can be
 * estimated.
 */
const RANGE_EVENTS_MAX = 80_000;

/** Maximum number of requests per comparison: each is a ledger entry. */
export const REQUESTS_MAX = COMPARED_MAX * 2 * (RANGES_MAX + 1);

/** A browser opens six connections to a service; leave some for the rest of the view. */
const CONCURRENT_REQUESTS = 3;

/** What is compared: two sets of time ranges, a box with its surroundings, or individual events with all others. */
export type ComparisonInput =
  | { kind: 'times'; selected: readonly Range[]; others: readonly Range[] }
  | { kind: 'box'; at: readonly Range[] }
  | { kind: 'events'; selected: readonly EventBody[]; all: readonly Range[] };

/** Parsed service response. */
export interface ValueCountsResult extends SideTally {
  /** Whether the response omits values. */
  isCut: boolean;
  /** End of the completely counted time; null if everything was counted. */
  until: Micros | null;
}

/** Requests the number of events per value in a time range, within the box or everywhere. */
export type ReadValueCounts = (by: GroupBy, range: Range, isInBox: boolean) => Promise<ValueCountsResult>;

export interface Comparison {
  facets: readonly Facet[];
  /** Attributes with too many values to be compared. */
  cut: readonly GroupBy[];
  selected: Part;
  others: Part;
}

/** Returns the ranges to count: all of the time, or samples spread evenly over its events. */
export function countedRanges(counts: Counts, spans: readonly Range[]): { ranges: Range[]; isAll: boolean } {
  const all = spans.flatMap((span) => piecesOf(counts, span)).reduce((sum, { count }) => sum + count, 0);
  if (all <= RANGE_EVENTS_MAX) return { ranges: [...spans], isAll: true };
  const moments = spread(counts, spans, RANGES_MAX);
  const isAll = all <= RANGE_EVENTS_MAX * RANGES_MAX;
  const ranges = spans.flatMap(({ from, to }) => {
    const within = moments.filter((moment) => moment > from && moment <= to);
    const begins = isAll || moments.includes(from) ? [from, ...within] : within;
    return begins.map((begin, index) => ({ from: begin, to: (begins[index + 1] ?? to + 1n) - 1n }));
  });
  return { ranges: isAll ? ranges : ranges.map((range) => shortened(counts, range)), isAll };
}

/** Shortens a range so that its events fit one response. */
function shortened(counts: Counts, range: Range): Range {
  let before = 0;
  for (const { from, to, count } of piecesOf(counts, range)) {
    if (before + count >= RANGE_EVENTS_MAX) {
      const part = (RANGE_EVENTS_MAX - before) / count;
      return { from: range.from, to: from + BigInt(Math.floor(Number(to - from) * part)) };
    }
    before += count;
  }
  return range;
}

/** Compares events by each attribute and reports the progress. */
export async function compare(
  readValueCounts: ReadValueCounts,
  names: readonly GroupBy[],
  compared: ComparisonInput,
  isAll: { selected: boolean; others: boolean },
  onprogress: (done: number) => void,
): Promise<Comparison> {
  const own = compared.kind === 'events' ? tally(compared.selected) : new Map<string, Tally>();
  const facets: Facet[] = [];
  const cut: GroupBy[] = [];
  const [selected, others] = [new Coverage(isAll.selected), new Coverage(isAll.others)];
  const rest = names.slice(0, COMPARED_MAX);
  const work = async (): Promise<void> => {
    for (let by = rest.shift(); by !== undefined; by = rest.shift()) {
      const sides = await sidesOf(readValueCounts, by, compared, own.get(by) ?? NONE);
      selected.add(sides.selected);
      others.add(sides.others);
      if (sides.selected.isCut || sides.others.isCut) cut.push(by);
      else facets.push(facetOf(by, sides.selected, sides.others));
      onprogress(facets.length + cut.length);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_REQUESTS }, work));
  return { facets: inOrder(facets), cut: cut.sort(), selected: selected.part, others: others.part };
}

/** The number of events covered by all comparisons: the minimum over the attributes. */
class Coverage {
  #count = Infinity;

  constructor(private isAll: boolean) {}

  add({ events, until }: ValueCountsResult): void {
    this.#count = Math.min(this.#count, events);
    if (until !== null) this.isAll = false;
  }

  get part(): Part {
    return { count: this.#count === Infinity ? 0 : this.#count, isAll: this.isAll };
  }
}

const NOTHING: ValueCountsResult = { tally: NONE, events: 0, isCut: false, until: null };

/** Counts both sides of a comparison. */
async function sidesOf(
  readValueCounts: ReadValueCounts,
  by: GroupBy,
  compared: ComparisonInput,
  own: Tally,
): Promise<{ selected: ValueCountsResult; others: ValueCountsResult }> {
  const sum = async (ranges: readonly Range[]): Promise<ValueCountsResult> => {
    let all = NOTHING;
    for (const range of ranges) all = combine(all, await readValueCounts(by, range, true), 1);
    return all;
  };
  if (compared.kind === 'times') return { selected: await sum(compared.selected), others: await sum(compared.others) };
  if (compared.kind === 'events') {
    const selected = { ...NOTHING, tally: own, events: compared.selected.length };
    return { selected, others: combine(await sum(compared.all), selected, -1) };
  }
  let [selected, whole] = [NOTHING, NOTHING];
  for (const range of compared.at) {
    const everywhere = await readValueCounts(by, range, false);
    // Count the box for the same time only; otherwise it could contain more events than everywhere.
    const inBox = await readValueCounts(by, { from: range.from, to: everywhere.until ?? range.to }, true);
    [selected, whole] = [combine(selected, inBox, 1), combine(whole, everywhere, 1)];
  }
  return { selected, others: combine(whole, selected, -1) };
}

/** Adds one answer to another, or subtracts it. */
function combine(a: ValueCountsResult, b: ValueCountsResult, sign: 1 | -1): ValueCountsResult {
  const values = new Map(a.tally.values);
  for (const [value, count] of b.tally.values) {
    const left = (values.get(value) ?? 0) + sign * count;
    if (left > 0) values.set(value, left);
    else values.delete(value);
  }
  return {
    tally: { count: Math.max(0, a.tally.count + sign * b.tally.count), values },
    events: Math.max(0, a.events + sign * b.events),
    isCut: a.isCut || b.isCut,
    until: a.until ?? b.until,
  };
}
