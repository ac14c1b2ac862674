/** Paradoxes as returned by the API, and the names of their kinds from docs/events.md. */

export interface Step {
  cause: string;
  effect: string;
  kind: 'requires' | 'contributes';
  gap_us: number;
}

export interface Paradox {
  code: string;
  kind: string;
  grade: string;
  severity: 'critical' | 'high' | 'medium' | 'low';
  is_observation: boolean;
  events: string[];
  witness: Record<string, unknown>;
  explanation: string;
  first: number;
  since: number;
  key: string;
}

export interface Count {
  kind: string;
  grades: Record<string, number>;
}

export interface ParadoxesBody {
  status: string;
  paradoxes: Paradox[];
  total: number;
  counts: Record<string, Count>;
  observations: Record<string, Count>;
  as_of: number | null;
  next_cursor?: string | null;
  has_more: boolean;
}

interface Kind {
  code: string;
  kind: string;
  title: string;
  meaning: string;
  isObservation: boolean;
}

const kind = (code: string, name: string, title: string, meaning: string, isObservation = false): Kind => ({
  code,
  kind: name,
  title,
  meaning,
  isObservation,
});

export const KINDS: readonly Kind[] = [
  kind('P01', 'effect_before_cause', 'Effect before cause', 'An effect begins before its cause does.'),
  kind('P02', 'causal_cycle', 'Causal cycle', 'Events cause each other in a cycle, or an event names itself as cause.'),
  kind('P03', 'bootstrap', 'Bootstrap', 'Events cause each other in a cycle, and no other event causes any of them.'),
  kind('P04', 'grandfather', 'Grandfather', 'An intervention canceled an event that led to it.'),
  kind('P05', 'orphaned_effect', 'Orphaned effect', 'An event occurs although it requires a canceled event.'),
  kind('P06', 'dangling_cause', 'Dangling cause', 'An event names a cause that was never recorded.', true),
  kind(
    'P07',
    'two_places_at_once',
    'Two places at once',
    'An actor is at two places that are too far apart for the time between them.',
  ),
  kind(
    'P08',
    'contradictory_state',
    'Contradictory state',
    'Two events assert different values for the same subject at the same time.',
  ),
  kind('P09', 'duplicate', 'Duplicate', 'Two events are equal, or probably the same.', true),
  kind(
    'P10',
    'future_dated',
    'Dated in the future',
    'An event was recorded as observed before the clock showed its time.',
    true,
  ),
  kind('P11', 'out_of_order_recording', 'Recorded out of order', 'A source recorded an event after a later one.', true),
  kind('P12', 'clock_discontinuity', 'Clock discontinuity', 'Host time went back, or virtual time jumped.', true),
  kind('P13', 'anchor_broken', 'Anchor broken', 'An event was changed after a fixed anchor was set.'),
  kind('P14', 'sequence_gap', 'Sequence gap', 'A sequence number of a source is missing or appears twice.', true),
  kind('P15', 'interval_inverted', 'Interval inverted', 'An event ends before it begins.'),
];

/** Returns the labels of a kind. An unknown kind, from a newer service, is labeled with its name. */
export function kindOf(paradox: { code: string; kind: string }): Kind {
  const known = KINDS.find((each) => each.code === paradox.code);
  return known ?? kind(paradox.code, paradox.kind, paradox.kind.replaceAll('_', ' '), '');
}

/** Returns the count of a kind over all grades. */
export function countOf(count: Count | undefined): number {
  return Object.values(count?.grades ?? {}).reduce((sum, each) => sum + each, 0);
}

type Tone = 'bad' | 'warn' | 'accent' | '';

export function severityTone(severity: string): Tone {
  return severity === 'critical' ? 'bad' : severity === 'high' ? 'warn' : severity === 'medium' ? 'accent' : '';
}

/**
 * Returns the events of a paradox that have a page. Interventions, firings without an event, and causes that were never
 * recorded have none.
 */
export function eventsOf(paradox: Paradox): string[] {
  const { cause, effect } = paradox.witness;
  const isFiring = timerOf(paradox) !== null && cause !== effect;
  const missing = isFiring || paradox.kind === 'dangling_cause' ? cause : null;
  return paradox.events.filter((event) => event !== missing && !event.startsWith('intervention_'));
}

/** Returns the timer whose firing caused the paradox, if its cause is a firing. */
export function timerOf(paradox: Paradox): string | null {
  const timer = paradox.witness.timer as { timer_id: string | null } | null | undefined;
  return timer?.timer_id ?? null;
}
