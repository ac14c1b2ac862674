/** Requests for the comparison of a selection. */
import { service } from '../../../lib/service/api';
import { GROUPS_MAX } from '../../../lib/events/counts';
import { queryOf, type GroupBy, type Question } from '../../../lib/events/filter';
import { readPage } from '../../../lib/events/pages';
import type { EventBody } from '../../../lib/events/store';
import { format, parse } from '../../../lib/time/instant';
import { groupings } from '../attributes/attributes';
import type { TimelineModel } from '../model.svelte';
import type { Range } from '../viewport.svelte';
import type { ValueCountsResult, ComparisonInput } from './counted';

/** Number of events to read per side, to find their attributes. */
const NAMES_OF = 50;

/** Counts the events of a time range by value, up to the limit of a response. */
export async function readValueCounts(
  question: Question,
  by: GroupBy,
  range: Range,
  signal: AbortSignal,
): Promise<ValueCountsResult> {
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
    // Other events at the time where it stopped may not have been counted.
    until: body.next_cursor ? (stop ?? range.from) - 1n : null,
  };
}

/** Returns the loaded events that start in some time ranges. */
export function bodiesIn({ visible }: TimelineModel, spans: readonly Range[]): EventBody[] {
  return spans.flatMap(({ from, to }) => visible.bodies.slice(visible.lowerBound(from), visible.lowerBound(to + 1n)));
}

/** Reads a few events of both sides and returns their attributes, the most frequent first. */
export async function readNames(
  compared: ComparisonInput,
  question: Question,
  viewport: Range,
  signal: AbortSignal,
): Promise<GroupBy[]> {
  const own = compared.kind === 'times' ? (compared.selected[0] ?? viewport) : viewport;
  const [first, last] = await Promise.all([
    compared.kind === 'events'
      ? compared.selected.slice(0, NAMES_OF)
      : readPage(question, { ...own, limit: NAMES_OF, signal }).then(({ store }) => store.bodies),
    readPage({ ...question, box: null }, { ...viewport, limit: NAMES_OF, order: 'newest', signal }).then(
      ({ store }) => store.bodies,
    ),
  ]);
  return groupings([...first, ...last]);
}
