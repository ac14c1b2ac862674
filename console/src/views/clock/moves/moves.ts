/** Moves of a clock: start, end, and what was passed in between. */
import type { Anchor } from '../../../lib/timelines/anchors';
import { FIRST, LAST } from '../../../lib/chart/scale';
import { distance, format, parse, type Micros } from '../../../lib/time/instant';
import type { AdvanceReceipt } from '../../../lib/timers/timers';

export interface Move {
  from: Micros;
  to: Micros;
  /** The advance that moved the clock, if it had to wait for timers. Its receipt lists the firings. */
  advance: string | null;
}

/** Maximum number of moves kept. */
export const MOVES_MAX = 12;

const ADVANCE = /^advance_[0-9a-z]{1,64}$/;

/** Returns the move of the URL parameters, or null if they contain none. */
export function moveOf(passed: string | null, advance: string | null): Move | null {
  const [from, to, ...rest] = (passed ?? '').split('/').map(parse);
  if (from === undefined || to === undefined || from === null || to === null || rest.length > 0) return null;
  return { from, to, advance: advance !== null && ADVANCE.test(advance) ? advance : null };
}

/** Returns the URL parameters of a move. */
export function moveParams(move: Move | null): { passed: string | null; advance: string | null } {
  return move === null
    ? { passed: null, advance: null }
    : { passed: `${format(move.from)}/${format(move.to)}`, advance: move.advance };
}

export const isSameMove = (a: Move, b: Move): boolean =>
  a.advance === null ? b.advance === null && a.from === b.from && a.to === b.to : a.advance === b.advance;

/** Adds a move at the front. */
export function withMove(moves: readonly Move[], move: Move): Move[] {
  return [move, ...moves.filter((candidate) => !isSameMove(candidate, move))].slice(0, MOVES_MAX);
}

/** Returns the move of a receipt, up to where the clock got. */
export function moveOfReceipt(settled: AdvanceReceipt): Move | null {
  const [from, to] = [parse(settled.from), parse(settled.state === 'running' ? settled.to : settled.reached)];
  return from === null || to === null ? null : { from, to, advance: settled.advance_id };
}

/** Returns a move without timers on its way. */
export function moveTo(from: Micros, to: string): Move | null {
  const end = parse(to);
  return end === null ? null : { from, to: end, advance: null };
}

/** Returns the first and last instant that a move passes. The earlier end is excluded, the later one is included. */
export function passedBy({ from, to }: Move): { from: Micros; to: Micros } | null {
  const [low, high] = from < to ? [from + 1n, to] : [to + 1n, from];
  const range = { from: low < FIRST ? FIRST : low, to: high > LAST ? LAST : high };
  return range.from > range.to ? null : range;
}

/** Formats distance and direction: "3 days forward". */
export function directionText({ from, to }: Move): string {
  if (from === to) return 'No move';
  return from < to ? `${distance(to - from)} forward` : `${distance(from - to)} back`;
}

/** Returns the anchors that a move passes, in the order of passing. */
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
