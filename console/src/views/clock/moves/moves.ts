/** Moves of a clock: from where to where, and what lies between. */
import type { Anchor } from '../../../lib/timelines/anchors';
import { FIRST, LAST } from '../../../lib/chart/scale';
import { distance, format, parse, type Micros } from '../../../lib/time/instant';
import type { Settled } from '../../../lib/timers/timers';

export interface Move {
  from: Micros;
  to: Micros;
  /** What moved the clock where it stood still at timers on its way: its receipt tells what fired. */
  advance: string | null;
}

/** So many moves are offered, the last ones. */
export const MOVES_MAX = 12;

const ADVANCE = /^advance_[0-9a-z]{1,64}$/;

/** Returns the move of an address; null where it has none. */
export function moveOf(passed: string | null, advance: string | null): Move | null {
  const [from, to, ...rest] = (passed ?? '').split('/').map(parse);
  if (from === undefined || to === undefined || from === null || to === null || rest.length > 0) return null;
  return { from, to, advance: advance !== null && ADVANCE.test(advance) ? advance : null };
}

/** Returns a move as an address has it. */
export function moveParams(move: Move | null): { passed: string | null; advance: string | null } {
  return move === null
    ? { passed: null, advance: null }
    : { passed: `${format(move.from)}/${format(move.to)}`, advance: move.advance };
}

export const isSameMove = (a: Move, b: Move): boolean =>
  a.advance === null ? b.advance === null && a.from === b.from && a.to === b.to : a.advance === b.advance;

/** Returns the moves with one more, the latest first. */
export function withMove(moves: readonly Move[], move: Move): Move[] {
  return [move, ...moves.filter((one) => !isSameMove(one, move))].slice(0, MOVES_MAX);
}

/** Returns the move that a receipt tells of, as far as the clock came. */
export function moveOfReceipt(settled: Settled): Move | null {
  const [from, to] = [parse(settled.from), parse(settled.state === 'running' ? settled.to : settled.reached)];
  return from === null || to === null ? null : { from, to, advance: settled.advance_id };
}

/** Returns a move without timers on its way. */
export function moveTo(from: Micros, to: string): Move | null {
  const end = parse(to);
  return end === null ? null : { from, to: end, advance: null };
}

/** Returns the first and the last moment that a move passes: what is at its beginning was passed before. */
export function passedBy({ from, to }: Move): { from: Micros; to: Micros } | null {
  const [low, high] = from < to ? [from + 1n, to] : [to + 1n, from];
  const range = { from: low < FIRST ? FIRST : low, to: high > LAST ? LAST : high };
  return range.from > range.to ? null : range;
}

/** Says how far a move goes, and which way: "3 days forward". */
export function wayText({ from, to }: Move): string {
  if (from === to) return 'No move';
  return from < to ? `${distance(to - from)} forward` : `${distance(from - to)} back`;
}

/** Returns the anchors that a move passes, in the order in which it does. */
export function anchorsPassed(anchors: readonly Anchor[], move: Move): Anchor[] {
  const range = passedBy(move);
  if (range === null) return [];
  const found = anchors.flatMap((anchor) => {
    const time = parse(anchor.timestamp);
    return time !== null && time >= range.from && time <= range.to ? [{ anchor, time }] : [];
  });
  found.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
  if (move.to < move.from) found.reverse();
  return found.map(({ anchor }) => anchor);
}
