import { describe, expect, it } from 'vitest';
import { EventStore } from '../../../lib/events/store';
import { SECOND, parse } from '../../../lib/time/instant';
import { criticalPath, graphOf, lastEffect, sharesOf, type Graph } from './critical-path';

const BASE = parse('2026-01-01T00:00:00Z')!;

/** Events as `id from-to causes`, in seconds; an event without duration has no end. */
function graph(...lines: string[]): Graph {
  const store = new EventStore();
  const at = (text: string): string => new Date(Date.UTC(2026, 0, 1, 0, 0, Number(text))).toISOString();
  const parsed = lines.map((line) => {
    const [id, span, ...causes] = line.split(' ');
    const [from, to] = span!.split('-');
    return { id: id!, from: Number(from), time: at(from!), end: to === undefined ? null : at(to), causes };
  });
  for (const { id, time, end, causes } of parsed.sort((a, b) => a.from - b.from))
    store.push({
      event_id: id,
      time,
      end_time: end,
      description: id,
      causes: causes.map((event_id) => ({ event_id })),
    });
  return graphOf(store);
}

/** A path as `id from-to` for each step, with a tilde for a wait. */
function stepsOf(found: Graph, id: string, most?: number): string[] {
  const path = criticalPath(found, id, most)!;
  const second = (time: bigint): string => String((time - BASE) / SECOND);
  return path.steps.map((step) => `${step.kind === 'wait' ? '~' : step.id} ${second(step.from)}-${second(step.to)}`);
}

describe('critical path', () => {
  it('follows the cause that ended last, with the gaps between events', () => {
    const found = graph('a 0-4', 'b 0-7', 'c 9-12 a b', 'd 12-13 c');
    expect(stepsOf(found, 'd')).toEqual(['b 0-7', '~ 7-9', 'c 9-12', 'd 12-13']);
    const path = criticalPath(found, 'd')!;
    expect(path).toMatchObject({ from: BASE, to: BASE + 13n * SECOND, missing: [], isCut: false, hasWrong: false });
    expect(sharesOf(path)).toEqual({
      ids: [
        ['b', 7n * SECOND],
        ['c', 3n * SECOND],
        ['d', SECOND],
      ],
      waits: 2n * SECOND,
    });
  });

  it('includes events without duration', () => {
    expect(stepsOf(graph('a 0', 'b 5 a', 'c 9 b a'), 'c')).toEqual(['a 0-0', '~ 0-5', 'b 5-5', '~ 5-9', 'c 9-9']);
    expect(stepsOf(graph('a 3'), 'a')).toEqual(['a 3-3']);
  });

  it('takes the longest of causes that end together, and of equals the first by id', () => {
    expect(stepsOf(graph('a 2-6', 'b 1-6', 'c 7-8 a b'), 'c')[0]).toBe('b 1-6');
    expect(stepsOf(graph('b 1-6', 'a 1-6', 'c 7-8 b a'), 'c')[0]).toBe('a 1-6');
  });

  it('continues within a cause that outlasts the start of its effect', () => {
    expect(stepsOf(graph('a 0-9', 'b 4-12 a'), 'b')).toEqual(['a 0-4', 'b 4-12']);
    // Both causes are running; take the innermost.
    expect(stepsOf(graph('a 0-9', 'b 1-9 a', 'c 4-8 a b'), 'c')).toEqual(['a 0-1', 'b 1-4', 'c 4-8']);
  });

  it('includes what a span waited for and omits what ran concurrently', () => {
    const trace = graph('root 0-10', 'one 1-4 root', 'beside 2-5 root', 'two 5-9 root', 'in 6-8 two');
    expect(stepsOf(trace, 'root')).toEqual(['root 0-2', 'beside 2-5', 'two 5-6', 'in 6-8', 'two 8-9', 'root 9-10']);
    // An effect that outlasts its cause counts up to the end of the cause; one that starts after it does not count.
    expect(stepsOf(graph('root 0-10', 'late 4-15 root', 'after 11-12 root'), 'root')).toEqual([
      'root 0-4',
      'late 4-10',
    ]);
    expect(stepsOf(graph('root 0-10', 'one 0-4 root', 'two 4-10 root'), 'root')).toEqual(['one 0-4', 'two 4-10']);
    expect(stepsOf(trace, 'in')).toEqual(['root 0-2', 'beside 2-5', 'two 5-6', 'in 6-8']);
  });

  it('reports unknown causes of its first event', () => {
    const found = graph('b 5-6 gone', 'c 7-8 b other');
    expect(stepsOf(found, 'c')).toEqual(['b 5-6', '~ 6-7', 'c 7-8']);
    expect(criticalPath(found, 'c')!.missing).toEqual(['gone']);
    expect(criticalPath(found, 'gone')).toBeNull();
  });

  it('stops at cycles, later causes and the maximum length', () => {
    const circle = graph('a 0-1 c', 'b 0-1 a', 'c 0-1 b');
    expect(stepsOf(circle, 'c').length).toBeLessThan(8);
    expect(criticalPath(circle, 'c')!.hasWrong).toBe(true);
    expect(criticalPath(graph('a 0-1 a'), 'a')).toMatchObject({ hasWrong: true, missing: [] });
    const later = graph('a 5-6', 'b 1-2 a');
    expect(stepsOf(later, 'b')).toEqual(['b 1-2']);
    expect(criticalPath(later, 'b')!.hasWrong).toBe(true);
    const long = graph(...Array.from({ length: 50 }, (_, index) => `e${index} ${index} e${index - 1}`));
    expect(criticalPath(long, 'e49', 20)).toMatchObject({ isCut: true, missing: [] });
    expect(stepsOf(long, 'e49', 20)).toHaveLength(20);
  });
});

describe('last effect', () => {
  it('is the direct or indirect effect that ends last, even with cycles', () => {
    const found = graph('a 0-20', 'b 1-2 a', 'c 3-30 b', 'd 4-5 b');
    expect(lastEffect(found, 'a')).toBe('c');
    expect(lastEffect(found, 'd')).toBe('d');
    expect(lastEffect(graph('a 0-1 b', 'b 0-2 a'), 'a')).toBe('b');
    expect(lastEffect(found, 'x')).toBeNull();
  });
});
