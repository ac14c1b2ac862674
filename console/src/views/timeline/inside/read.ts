/** Asks the service for what a selection is compared by. */
import { service } from '../../../lib/service/api';
import { GROUPS_MAX } from '../../../lib/events/counts';
import { queryOf, type GroupBy, type Question } from '../../../lib/events/filter';
import { readPage } from '../../../lib/events/pages';
import type { EventBody } from '../../../lib/events/store';
import { format, parse } from '../../../lib/time/instant';
import { groupings } from '../attributes/attributes';
import type { TimelineModel } from '../model.svelte';
import type { Range } from '../sight.svelte';
import type { Answer, Compared } from './counted';

/** So many events of each side are read, to see which attributes there are. */
const NAMES_OF = 50;

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
export function bodiesIn({ visible }: TimelineModel, spans: readonly Range[]): EventBody[] {
  return spans.flatMap(({ from, to }) => visible.bodies.slice(visible.lowerBound(from), visible.lowerBound(to + 1n)));
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
