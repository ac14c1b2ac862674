/** Context of the events: anchors, forks, and the marks of visible events. */
import { readAnchors, type Anchor } from '../../lib/timelines/anchors';
import { service } from '../../lib/service/api';
import { format, parse, type Micros } from '../../lib/time/instant';
import { timelines, type TimelineBody } from '../../lib/timelines/timelines.svelte';
import { queryOf, type Question } from '../../lib/events/filter';
import { readLanes, type Lane } from './lanes/lanes';
import type { Marks } from './axis/picture';

const ANCHORS_MAX = 1_000;
/** With more events than this in view, marks are not requested. */
export const MARKS_MAX = 1_000;
/** Pages of marks to read when the events that a list shows come late among many with the same time. */
const MARK_PAGES_MAX = 10;

interface MarksBody {
  events: { event_id: string; interventions?: unknown[]; paradoxes?: unknown[] }[];
  next_cursor?: string | null;
}

export class SurroundingEvents {
  /** Host time of the displayed state; null for the current state. */
  asOf = $state<string | null>(null);
  /** All anchors, including those set after `asOf`. */
  known = $state.raw<Anchor[]>([]);
  anchors = $derived.by(() => {
    const until = this.asOf === null ? null : parse(this.asOf);
    return until === null ? this.known : this.known.filter(({ set_at }) => (parse(set_at) ?? until) <= until);
  });
  lanes = $state.raw<Lane[]>([]);
  lanesMore = $state(0);
  marks = $state.raw<Marks>(new Map());
  /** Timelines that were searched for forks; null before the first search. */
  #listed: readonly TimelineBody[] | null = null;

  constructor(private readonly timeline: string) {}

  /** Loads anchors and lanes; the axis does not wait for them. */
  async read(signal: AbortSignal): Promise<void> {
    try {
      this.known = (await readAnchors(this.timeline, { limit: ANCHORS_MAX, signal })).anchors;
      await this.#readLanes(signal);
    } catch {
      // The event requests report the error; the axis is correct without anchors and lanes.
    }
  }

  /** Reloads the lanes if the list of timelines has changed since they were loaded: it may contain new forks. */
  again(list: readonly TimelineBody[]): void {
    // If this fails, the existing lanes are still valid.
    if (this.#listed !== null && this.#listed !== list) void this.#readLanes().catch(() => {});
  }

  async #readLanes(signal?: AbortSignal): Promise<void> {
    const { list } = timelines;
    this.#listed = list;
    const found = await readLanes(this.timeline, timelines.find(this.timeline), list, this.known, signal);
    if (this.#listed !== list) return;
    this.lanes = found.lanes;
    this.lanesMore = found.more;
  }

  /**
   * Loads which events of a time range have interventions or paradoxes. `needed` lists events that must be covered, for
   * example when a list shows part of many events with the same time: further pages are read until all of them are
   * found.
   */
  async readMarks(
    question: Question,
    from: Micros,
    to: Micros,
    signal: AbortSignal,
    needed: readonly string[] = [],
  ): Promise<void> {
    const body = {
      ...queryOf(question),
      time_range: `${format(from)}/${format(to)}`,
      limit: MARKS_MAX,
    };
    const missing = new Set(needed);
    let cursor: string | null = null;
    for (let page = 0; page < MARK_PAGES_MAX; page += 1) {
      const found: MarksBody = await service.scanEvents(cursor === null ? body : { ...body, cursor }, { signal });
      this.#take(found.events);
      for (const { event_id } of found.events) missing.delete(event_id);
      cursor = found.next_cursor ?? null;
      if (cursor === null || missing.size === 0) break;
    }
  }

  #take(events: MarksBody['events']): void {
    const marks = new Map(this.marks);
    for (const event of events) {
      const isTouched = (event.interventions?.length ?? 0) > 0;
      const isParadox = (event.paradoxes?.length ?? 0) > 0;
      if (isTouched || isParadox) marks.set(event.event_id, { isTouched, isParadox });
      else marks.delete(event.event_id);
    }
    if (!isSame(marks, this.marks)) this.marks = marks;
  }
}

function isSame(a: Marks, b: Marks): boolean {
  if (a.size !== b.size) return false;
  for (const [id, mark] of a) {
    const other = b.get(id);
    if (other?.isParadox !== mark.isParadox || other.isTouched !== mark.isTouched) return false;
  }
  return true;
}
