/** Converts a witness to a diagram: its shape and its parts. Positions are computed in `layout.ts`. */
import { countText } from '../../../lib/events/words';
import { distance, parse, type Micros } from '../../../lib/time/instant';
import { momentText } from '../../../lib/time/display';
import type { Span } from '../../../lib/events/known-spans';
import { stretchText } from '../../../lib/time/when';
import { bothText } from '../texts';
import { timerOf, type Paradox, type Step } from '../paradox';

/** A node of a diagram; `event` is the id if the event has a page. */
export interface Node {
  id: string;
  label: string;
  event: string | null;
  /** `removed` was canceled, and `ghost` never existed. */
  variant: 'plain' | 'removed' | 'intervention' | 'ghost' | 'bad';
}

export interface Edge {
  from: number;
  to: number;
  label: string;
  isBad: boolean;
}

/** An interval or an instant on a time axis. */
interface Bar {
  label: string;
  event: string | null;
  from: Micros;
  to: Micros;
  note: string;
  isBad: boolean;
  /** Whether both ends are unknown, so that the bar is drawn open-ended. */
  isOpen?: boolean;
}

export type Picture =
  | { shape: 'ring'; nodes: Node[]; edges: Edge[]; more: number }
  | { shape: 'chain'; nodes: Node[]; edges: Edge[]; more: number }
  | {
      shape: 'axis';
      bars: Bar[];
      arrow: { from: number; to: number; label: string } | null;
      clash: { from: Micros; to: Micros; label: string } | null;
    }
  | {
      shape: 'speed';
      actor: string;
      nodes: Node[];
      km: number | null;
      gap: string;
      neededKmh: number | null;
      places: [string, string] | null;
    }
  | {
      shape: 'numbers';
      source: string;
      cells: { number: string; nodes: Node[]; variant: 'plain' | 'gap' | 'twice' }[];
    };

const node = (id: string, variant: Node['variant'] = 'plain', event: string | null = id): Node => ({
  id,
  label: id,
  event,
  variant,
});

/** The service names interventions; they have no page. */
function nodeOf(id: string, variant: Node['variant'] = 'plain'): Node {
  return id.startsWith('intervention_')
    ? { id, label: 'the intervention', event: null, variant: 'intervention' }
    : node(id, variant);
}

/** Returns how much later or earlier than its cause an effect is. */
export function gapWords(micros: number): string {
  if (micros === 0) return 'at the same time';
  return `${distance(BigInt(Math.round(micros)))} ${micros < 0 ? 'earlier' : 'later'}`;
}

/**
 * Returns the diagram of a paradox, or null if its witness has an unknown shape. Events are labeled with their names
 * where known.
 */
export function pictureOf(
  paradox: Paradox,
  names: ReadonlyMap<string, string> = new Map(),
  spans: ReadonlyMap<string, Span> = new Map(),
): Picture | null {
  const picture = withTimer(drawnOf(paradox), timerOf(paradox), paradox.witness.cause);
  if (picture === null || (names.size === 0 && spans.size === 0)) return picture;
  const called = <T extends { label: string; event: string | null }>(part: T): T =>
    part.event !== null && part.label === part.event ? { ...part, label: names.get(part.event) ?? part.label } : part;
  switch (picture.shape) {
    case 'axis':
      return { ...picture, bars: picture.bars.map((bar) => whole(called(bar), spans)) };
    case 'numbers':
      return { ...picture, cells: picture.cells.map((cell) => ({ ...cell, nodes: cell.nodes.map(called) })) };
    default:
      return { ...picture, nodes: picture.nodes.map(called) };
  }
}

/** Shows a timer in place of the firing that is a cause. The event that it recorded may have the same id. */
function withTimer(picture: Picture | null, timer: string | null, cause: unknown): Picture | null {
  if (picture === null || timer === null) return picture;
  let isDone = false;
  const drawn = <T extends { label: string; event: string | null }>(part: T): T => {
    if (isDone || part.event !== cause) return part;
    isDone = true;
    return { ...part, id: 'timer', label: `timer ${timer}`, event: null };
  };
  if (picture.shape === 'axis') return { ...picture, bars: picture.bars.map(drawn) };
  return picture.shape === 'chain' ? { ...picture, nodes: picture.nodes.map(drawn) } : picture;
}

function drawnOf(paradox: Paradox): Picture | null {
  const witness = paradox.witness;
  const text = (name: string): string => (typeof witness[name] === 'string' ? witness[name] : '');
  const number = (name: string): number | null => (typeof witness[name] === 'number' ? witness[name] : null);
  const pair = Array.isArray(witness.pair) ? (witness.pair as [string, string]) : null;
  switch (paradox.code) {
    case 'P01':
      return early(text('cause'), text('effect'), witness.cause_time, witness.effect_time, number('gap_us') ?? 0);
    case 'P02':
    case 'P03':
      return ring((witness.cycle as Step[] | undefined) ?? [], number('length') ?? 0);
    case 'P04':
      return path((witness.path as string[] | undefined) ?? [], number('length') ?? 0);
    case 'P05':
      return orphan(text('cause'), text('effect'), text('intervention'), number('impact') ?? 0);
    case 'P06':
      return {
        shape: 'chain',
        nodes: [node(text('cause'), 'ghost', null), node(text('effect'))],
        edges: [{ from: 0, to: 1, label: 'is named as the cause of', isBad: true }],
        more: 0,
      };
    case 'P07':
      return (
        pair && {
          shape: 'speed',
          actor: text('actor'),
          nodes: pair.map((id) => node(id)),
          km: number('km'),
          gap: distance(BigInt(Math.round(number('gap_us') ?? 0))),
          neededKmh: number('needed_kmh'),
          places: (witness.places as [string, string] | null) ?? null,
        }
      );
    case 'P08':
      return (
        pair &&
        contradiction(
          pair,
          text('subject'),
          text('predicate'),
          (witness.values as unknown[] | undefined) ?? [],
          text('from'),
          text('until'),
        )
      );
    case 'P09':
      return (
        pair && {
          shape: 'chain',
          nodes: pair.map((id) => node(id)),
          edges: [{ from: 0, to: 1, label: 'is identical to', isBad: true }],
          more: 0,
        }
      );
    case 'P10':
      return axis(
        [
          [`recorded, as the clock showed`, null, text('clock_at'), false],
          [text('event'), text('event'), text('time'), true],
        ],
        [1, 0],
        'recorded as observed before it happened',
      );
    case 'P11':
      return {
        shape: 'chain',
        nodes: [node(text('previous')), node(text('event'), 'bad')],
        edges: [
          {
            from: 0,
            to: 1,
            label: `recorded next, and happened ${distance(BigInt(Math.round(number('lateness_us') ?? 0)))} earlier`,
            isBad: true,
          },
        ],
        more: 0,
      };
    case 'P12':
      return axis(
        [
          ['before', null, text('from'), false],
          ['after', null, text('to'), true],
        ],
        [0, 1],
        `${text('clock') === 'host' ? 'host time' : 'the clock'} jumped from here to there`,
      );
    case 'P13':
      return {
        shape: 'chain',
        nodes: [
          node(text('event'), 'bad'),
          {
            id: text('anchor_id'),
            label: `anchor at ${momentText(parse(text('timestamp')) ?? 0n)}`,
            event: null,
            variant: 'plain',
          },
        ],
        edges: [{ from: 0, to: 1, label: `changed since, at position ${number('changed_at') ?? '?'}`, isBad: true }],
        more: 0,
      };
    case 'P14':
      return numbers(
        text('source') || 'records without a source',
        number('first'),
        number('last'),
        number('sequence'),
        pair,
      );
    case 'P15':
      return text('time') === ''
        ? null
        : axis(
            [
              ['ends', text('event'), text('end_time'), true],
              ['begins', text('event'), text('time'), false],
            ],
            [1, 0],
            'from its beginning to its end',
          );
    default:
      return null;
  }
}

function ring(steps: Step[], length: number): Picture {
  return {
    shape: 'ring',
    nodes: steps.map((step) => nodeOf(step.cause)),
    edges: steps.map((step, index) => ({
      from: index,
      to: (index + 1) % steps.length,
      label: `${step.kind}, ${gapWords(step.gap_us)}`,
      isBad: step.gap_us <= 0,
    })),
    more: Math.max(0, length - steps.length),
  };
}

function path(ids: string[], length: number): Picture {
  const nodes = ids.map((id, index) => nodeOf(id, index === 0 ? 'removed' : 'plain'));
  const edges: Edge[] = nodes
    .slice(1)
    .map((_, index) => ({ from: index, to: index + 1, label: 'led to', isBad: false }));
  const more = Math.max(0, length - ids.length);
  if (nodes.length > 1 && more === 0) edges.push({ from: nodes.length - 1, to: 0, label: 'canceled', isBad: true });
  return { shape: 'chain', nodes, edges, more };
}

function orphan(cause: string, effect: string, intervention: string, impact: number): Picture {
  const nodes: Node[] = intervention ? [nodeOf(intervention, 'intervention')] : [];
  nodes.push(node(cause, 'removed'), node(effect, 'bad'));
  const edges: Edge[] = [{ from: nodes.length - 2, to: nodes.length - 1, label: 'is required by', isBad: true }];
  if (intervention) edges.unshift({ from: 0, to: 1, label: 'canceled', isBad: false });
  if (impact > 0) {
    nodes.push({
      id: 'impact',
      label: countText(impact, 'more event'),
      event: null,
      variant: 'ghost',
    });
    edges.push({ from: nodes.length - 2, to: nodes.length - 1, label: 'is required by', isBad: false });
  }
  return { shape: 'chain', nodes, edges, more: 0 };
}

/** Reads a time that is known as an instant or an interval. */
function stretch(time: unknown): [Micros, Micros] {
  const [from, to] = Array.isArray(time) ? (time as [string, string]) : [String(time), String(time)];
  const first = parse(from) ?? 0n;
  return [first, parse(to) ?? first];
}

function early(cause: string, effect: string, causeTime: unknown, effectTime: unknown, gap: number): Picture {
  const bar = (id: string, time: unknown, isBad: boolean): Bar => {
    const [from, to] = stretch(time);
    const { label, event } = nodeOf(id);
    return {
      label,
      event,
      from,
      to,
      note: stretchText(from, to),
      isBad,
    };
  };
  return {
    shape: 'axis',
    bars: [bar(cause, causeTime, false), bar(effect, effectTime, true)],
    arrow: { from: 0, to: 1, label: `causes, ${gapWords(-Math.abs(gap))}` },
    clash: null,
  };
}

function axis(
  parts: [string, string | null, string, boolean][],
  [from, to]: [number, number],
  label: string,
): Picture | null {
  const bars = parts.map(([name, event, time, isBad]): Bar | null => {
    const at = parse(time);
    return at === null ? null : { label: name, event, from: at, to: at, note: momentText(at), isBad };
  });
  return bars.includes(null) ? null : { shape: 'axis', bars: bars as Bar[], arrow: { from, to, label }, clash: null };
}

/** Extends a bar to the full duration of its event if only a part of it was given. */
function whole(bar: Bar, spans: ReadonlyMap<string, Span>): Bar {
  const span = bar.isOpen && bar.event !== null ? spans.get(bar.event) : undefined;
  return span === undefined ? bar : { ...bar, ...span, isOpen: false };
}

function contradiction(
  pair: [string, string],
  subject: string,
  predicate: string,
  values: unknown[],
  from: string,
  until: string,
): Picture | null {
  const [start, end] = [parse(from), parse(until)];
  if (start === null || end === null) return null;
  // The witness contains only the overlap, so each bar is open-ended if its event's time is unknown.
  const bars = pair.map((id, index): Bar => ({
    label: id,
    event: id,
    from: start,
    to: end,
    note: `${predicate} of ${subject} is ${JSON.stringify(values[index])}`,
    isBad: true,
    isOpen: true,
  }));
  return {
    shape: 'axis',
    bars,
    arrow: null,
    clash: { from: start, to: end, label: bothText(start, end) },
  };
}

function numbers(
  source: string,
  first: number | null,
  last: number | null,
  sequence: number | null,
  pair: [string, string] | null,
): Picture | null {
  if (sequence !== null && pair) {
    return {
      shape: 'numbers',
      source,
      cells: [
        { number: String(sequence - 1), nodes: [], variant: 'plain' },
        { number: String(sequence), nodes: pair.map((id) => node(id)), variant: 'twice' },
        { number: String(sequence + 1), nodes: [], variant: 'plain' },
      ],
    };
  }
  if (first === null || last === null) return null;
  const missing = first === last ? String(first) : `${first} to ${last}`;
  return {
    shape: 'numbers',
    source,
    cells: [
      { number: String(first - 1), nodes: [], variant: 'plain' },
      { number: missing, nodes: [], variant: 'gap' },
      { number: String(last + 1), nodes: [], variant: 'plain' },
    ],
  };
}
