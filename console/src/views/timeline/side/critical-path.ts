/**
 * Computes the critical path of an event: the chain of events that determined its end, traced back along the cause that
 * ended last. An effect within its cause, like a child span of a trace, is on the path if the cause had to wait for it.
 */
import type { EventStore } from '../../../lib/events/store';
import type { Micros } from '../../../lib/time/instant';

/** An event as a node of the graph. */
interface Member {
  id: string;
  from: Micros;
  /** End time; equals `from` for an event without duration. */
  to: Micros;
  /** Ids of the causes, known or unknown. */
  causes: readonly string[];
}

export interface Graph {
  get(id: string): Member | null;
  /** Returns the ids of the events that name an event as a cause. */
  effects(id: string): readonly string[];
}

/** A segment of the path: a part of an event, or the wait between two events. */
export interface Step {
  kind: 'event' | 'wait';
  /** The event; for a wait, the event after it. */
  id: string;
  from: Micros;
  to: Micros;
}

export interface CriticalPath {
  /** In time order without gaps: each step starts at the end of the previous one. */
  steps: readonly Step[];
  from: Micros;
  to: Micros;
  /** Unknown causes of the first event: the path may continue beyond the loaded events. */
  missing: readonly string[];
  /** Whether the path was cut at the maximum length. */
  isCut: boolean;
  /** Whether the path had cycles, or causes later than their effects; these are omitted. */
  hasWrong: boolean;
}

/** Maximum number of steps. */
const STEPS_MAX = 400;
/** Maximum number of events to search for the last effect. */
const FOLLOWED_MAX = 5_000;

const min = (a: Micros, b: Micros): Micros => (a < b ? a : b);

/** Returns the critical path to the end of an event; null if the event is unknown. */
export function criticalPath(graph: Graph, id: string, most = STEPS_MAX): CriticalPath | null {
  const last = graph.get(id);
  if (last === null) return null;
  const back: Step[] = [];
  /** Events entered so far, from their effect or from the enclosing cause. */
  const seen = new Set([id]);
  /** Events already left at their start; reaching one again means a cycle. */
  const left = new Set<string>();
  let missing: string[] = [];
  let hasWrong = false;
  let at = last;
  let time = last.to;
  const add = (kind: Step['kind'], of: string, from: Micros): void => {
    const before = back.at(-1);
    // An event that started together with the effect it waited for took no time before it.
    if (kind === 'event' && from === time && at.to > at.from && before !== undefined) return;
    if (before?.kind === kind && before.id === of) before.from = from;
    else back.push({ kind, id: of, from, to: time });
    time = from;
  };
  while (back.length < most) {
    const inner = lastWithin(graph, at, time, seen);
    if (inner !== null) {
      const end = min(inner.to, at.to);
      if (end < time) add('event', at.id, end);
      seen.add(inner.id);
      at = inner;
      continue;
    }
    add('event', at.id, at.from);
    left.add(at.id);
    const known = at.causes.map((cause) => graph.get(cause));
    missing = at.causes.filter((_, index) => known[index] === null);
    const right = known.filter((cause) => cause !== null && cause.from <= time && !left.has(cause.id));
    if (known.some((cause) => cause !== null && (cause.from > time || left.has(cause.id)))) hasWrong = true;
    const cause = lastOf(right as Member[], time);
    if (cause === null) break;
    if (cause.to < time) add('wait', at.id, cause.to);
    seen.add(cause.id);
    at = cause;
  }
  const isCut = back.length >= most;
  const steps = back.reverse();
  return { steps, from: steps[0]!.from, to: last.to, missing: isCut ? [] : missing, isCut, hasWrong };
}

/**
 * Returns the effect that starts within an event and ends last before a time: the event waited for it. Effects that
 * continue beyond that time are ignored, except that an effect that outlasts its cause counts up to the end of the
 * cause.
 */
function lastWithin(graph: Graph, of: Member, time: Micros, seen: ReadonlySet<string>): Member | null {
  if (of.to <= of.from) return null;
  const within = graph.effects(of.id).flatMap((id) => {
    const found = seen.has(id) ? null : graph.get(id);
    if (found === null || found.from < of.from || found.from >= time || min(found.to, of.to) > time) return [];
    return [found];
  });
  return lastOf(within, of.to, true);
}

/**
 * Returns the event that ends last, with ends limited to `until`. Of events that end together, the longest wins; of
 * causes that all reach `until`, the one that started last, which is the innermost.
 */
function lastOf(events: readonly Member[], until: Micros, isInner = false): Member | null {
  let best: Member | null = null;
  for (const event of events) {
    if (best === null) {
      best = event;
      continue;
    }
    const [end, bestEnd] = [min(event.to, until), min(best.to, until)];
    if (end < bestEnd) continue;
    const isInnermost = !isInner && end === until;
    const isBetter = isInnermost ? event.from > best.from : event.from < best.from;
    if (end > bestEnd || isBetter || (event.from === best.from && event.id < best.id)) best = event;
  }
  return best;
}

/** Returns the event that ends last among an event and all its effects; null if the event is unknown. */
export function lastEffect(graph: Graph, id: string, most = FOLLOWED_MAX): string | null {
  let last = graph.get(id);
  if (last === null) return null;
  const seen = new Set([id]);
  // Iterating a set includes elements that are added meanwhile.
  for (const memberId of seen) {
    for (const effect of graph.effects(memberId)) {
      const found = seen.size >= most || seen.has(effect) ? null : graph.get(effect);
      if (found === null) continue;
      seen.add(effect);
      if (found.to > last.to || (found.to === last.to && found.id < last.id)) last = found;
    }
  }
  return last.id;
}

/** Returns the graph of the loaded events. */
export function graphOf(store: EventStore): Graph {
  const effects = new Map<string, string[]>();
  store.causes.forEach((causes, row) => {
    for (const { event_id } of causes ?? []) {
      const known = effects.get(event_id);
      if (known === undefined) effects.set(event_id, [store.ids[row]!]);
      else known.push(store.ids[row]!);
    }
  });
  return {
    get(id) {
      const row = store.row(id);
      if (row < 0) return null;
      const from = store.time(row);
      const causes = (store.causes[row] ?? []).map(({ event_id }) => event_id);
      return { id, from, to: from + BigInt(Math.round(store.lengths[row]!)), causes };
    },
    effects: (id) => effects.get(id) ?? [],
  };
}

/** Returns the total time of the path in each event, the longest first, and in waits. */
export function sharesOf({ steps }: CriticalPath): {
  ids: readonly (readonly [id: string, micros: Micros])[];
  waits: Micros;
} {
  const sums = new Map<string, Micros>();
  let waits = 0n;
  for (const { kind, id, from, to } of steps) {
    if (kind === 'wait') waits += to - from;
    else sums.set(id, (sums.get(id) ?? 0n) + to - from);
  }
  return { ids: [...sums].sort(([, a], [, b]) => (a > b ? -1 : a < b ? 1 : 0)), waits };
}
