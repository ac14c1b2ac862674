/**
 * Which chain of events decided when one of them ended: from its end back, always along what ended last. What begins
 * within its cause, as the spans of a trace do, is on the chain where its cause had to wait for it.
 */
import type { EventStore } from '../../../lib/events/store';
import type { Micros } from '../../../lib/time/instant';

/** An event as far as a chain goes through it. */
export interface Member {
  id: string;
  from: Micros;
  /** When it ends; `from` for a moment. */
  to: Micros;
  /** Ids of what it happened because of, whether they are known or not. */
  causes: readonly string[];
}

export interface Graph {
  get(id: string): Member | null;
  /** The ids of what names an event as a cause. */
  effects(id: string): readonly string[];
}

/** A part of a chain: within an event, or the time between two of them, when nothing on it happened. */
export interface Step {
  kind: 'event' | 'wait';
  /** The event; of a wait, what came after it. */
  id: string;
  from: Micros;
  to: Micros;
}

export interface CriticalPath {
  /** In order of time, without a hole: each begins where the one before ends. */
  steps: readonly Step[];
  from: Micros;
  to: Micros;
  /** Causes of the first event that are not known: the chain may go on beyond what was read. */
  missing: readonly string[];
  /** Whether the chain was cut off, because it is longer than anybody reads. */
  isCut: boolean;
  /** Whether events on the chain cause each other in a circle, or lie before their causes; these are left out. */
  hasWrong: boolean;
}

/** A chain of more steps is cut off. */
const STEPS_MAX = 400;
/** So many events are looked through for the last effect. */
const FOLLOWED_MAX = 5_000;

const min = (a: Micros, b: Micros): Micros => (a < b ? a : b);

/** Returns the chain that decided when an event ended; null where it is not known. */
export function criticalPath(graph: Graph, id: string, most = STEPS_MAX): CriticalPath | null {
  const last = graph.get(id);
  if (last === null) return null;
  const back: Step[] = [];
  /** What was entered from what followed it, or from the cause within which it lies. */
  const seen = new Set([id]);
  /** What was left through its beginning: whoever comes there again goes in a circle. */
  const left = new Set<string>();
  let missing: string[] = [];
  let hasWrong = false;
  let at = last;
  let time = last.to;
  const add = (kind: Step['kind'], of: string, from: Micros): void => {
    const before = back.at(-1);
    // What began together with what it waited for took no time before that.
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
 * Returns the effect that begins within an event and ends last before a moment: it was waited for. What goes on beyond
 * that moment was not, except that what outlasts its cause counts up to the end of that.
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
 * Returns the event that ends last, as far as it does before a moment. Of those that end together it is the one that
 * took longest; among causes that all reach to that moment, the one that began last, which is the innermost.
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

/** Returns the event that ends last of all that an event led to, itself included; null where it is not known. */
export function lastEffect(graph: Graph, id: string, most = FOLLOWED_MAX): string | null {
  let last = graph.get(id);
  if (last === null) return null;
  const seen = new Set([id]);
  // A set is walked in the order in which it grows.
  for (const one of seen) {
    for (const effect of graph.effects(one)) {
      const found = seen.size >= most || seen.has(effect) ? null : graph.get(effect);
      if (found === null) continue;
      seen.add(effect);
      if (found.to > last.to || (found.to === last.to && found.id < last.id)) last = found;
    }
  }
  return last.id;
}

/** Returns the graph of the events that were read. */
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

/** Returns how long a chain is in each of its events, the longest first, and how long in none of them. */
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
