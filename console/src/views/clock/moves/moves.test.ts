import { expect, it } from 'vitest';
import type { Anchor } from '../../../lib/timelines/anchors';
import type { AdvanceReceipt } from '../../../lib/timers/timers';
import {
  MOVES_MAX,
  anchorsPassed,
  moveOf,
  moveOfReceipt,
  moveParams,
  passedBy,
  directionText,
  withMove,
} from './moves';

const DAY = 86_400_000_000n;
const move = (from: bigint, to: bigint, advance: string | null = null) => ({ from, to, advance });

it('a move is restored from its URL, forward or back', () => {
  for (const candidate of [move(0n, 3n * DAY, 'advance_01m8d9z0yp'), move(3n * DAY, 0n)]) {
    const { passed, advance } = moveParams(candidate);
    expect(moveOf(passed, advance)).toEqual(candidate);
  }
  expect(moveParams(null)).toEqual({ passed: null, advance: null });
});

it('an invalid URL has no move', () => {
  for (const text of [null, '', '1970-01-01T00:00:00Z', 'a/b', '1970-01-01T00:00:00Z/1971-01-01T00:00:00Z/x'])
    expect(moveOf(text, null)).toBeNull();
  expect(moveOf('1970-01-01T00:00:00Z/1971-01-01T00:00:00Z', '../clock')?.advance).toBeNull();
});

it('a move passes its end, but not its start', () => {
  expect(passedBy(move(10n, 20n))).toEqual({ from: 11n, to: 20n });
  expect(passedBy(move(20n, 10n))).toEqual({ from: 11n, to: 20n });
  expect(passedBy(move(10n, 10n))).toBeNull();
});

it('a move has a distance and a direction', () => {
  expect(directionText(move(0n, 3n * DAY))).toBe('3 days forward');
  expect(directionText(move(3n * DAY, 0n))).toBe('3 days back');
});

it('moves are listed once, latest first, without the oldest', () => {
  const advanced = move(0n, 10n, 'advance_a');
  const stopped = move(0n, 5n, 'advance_a');
  expect(withMove([move(1n, 2n), advanced], stopped)).toEqual([stopped, move(1n, 2n)]);
  const many = Array.from({ length: MOVES_MAX + 3 }, (_, index) => move(0n, BigInt(index + 1)));
  const stored = many.reduce<ReturnType<typeof move>[]>((list, candidate) => withMove(list, candidate), []);
  expect(stored).toHaveLength(MOVES_MAX);
  expect(stored[0]).toEqual(many.at(-1));
});

it('the move of a stopped advance ends where the clock got', () => {
  const receipt = {
    advance_id: 'advance_a',
    from: '1970-01-01T00:00:00Z',
    to: '1970-01-03T00:00:00Z',
    reached: '1970-01-02T00:00:00Z',
  } as AdvanceReceipt;
  expect(moveOfReceipt({ ...receipt, state: 'stopped' })).toEqual(move(0n, DAY, 'advance_a'));
  expect(moveOfReceipt({ ...receipt, state: 'running' })).toEqual(move(0n, 2n * DAY, 'advance_a'));
});

it('anchors are in the order of passing', () => {
  const anchor = (anchor_id: string, timestamp: string) => ({ anchor_id, timestamp }) as Anchor;
  const anchors = [
    anchor('late', '1970-01-03T00:00:00Z'),
    anchor('early', '1970-01-02T00:00:00Z'),
    anchor('before', '1970-01-01T00:00:00Z'),
  ];
  expect(anchorsPassed(anchors, move(0n, 3n * DAY)).map(({ anchor_id }) => anchor_id)).toEqual(['early', 'late']);
  expect(anchorsPassed(anchors, move(3n * DAY, 0n)).map(({ anchor_id }) => anchor_id)).toEqual(['late', 'early']);
});
