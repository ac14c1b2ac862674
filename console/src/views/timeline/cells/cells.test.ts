import { describe, expect, it, vi } from 'vitest';
import { ALL } from '../../../lib/events/filter';
import { boxAround, CellCounter, classOf, classesOf, resolutionOf } from './cells';

describe('map cells', () => {
  it('are as fine as the space allows', () => {
    expect([0.001, 0.3, 7, 100].map(resolutionOf)).toEqual([0.01, 0.5, 8, 30]);
  });

  it('have classes from the smallest count to the largest', () => {
    const check = (counts: number[], expected: number[]) => expect(classesOf(counts)).toEqual(expected);
    check([], [1, 2, 5, 10, 20]);
    check([1, 12, 60], [1, 2, 5, 10, 20]);
    check([1, 12, 80], [1, 5, 10, 20, 50]);
    check([1, 12], [1, 2, 5, 10, 20]);
    check([1, 907], [1, 5, 20, 100, 500]);
    check([1, 3_000], [1, 20, 100, 500, 2_000]);
    // No class for only the top hundred of two thousand, which would put most cells in two others.
    check([1, 2_108], [1, 10, 50, 200, 1_000]);
    check([40, 5_000], [1, 200, 500, 1_000, 2_000]);
    check([1, 9_000_000], [1, 5_000, 50_000, 500_000, 5_000_000]);
    // Different shades even if all cells have many events.
    const many = classesOf([23_000, 99_000]);
    expect([23_000, 40_000, 99_000].map((count) => classOf(count, many))).toEqual([0, 1, 3]);
    check([1_900, 2_200, 4_200], [1_500, 2_000, 2_500, 3_000, 3_500]);
    check([327_346], [10_000, 20_000, 50_000, 100_000, 200_000]);
    expect([1, 9, 10, 999].map((count) => classOf(count, [5, 10, 20, 50, 100]))).toEqual([0, 0, 1, 4]);
  });

  it('are counted once per view, and again after a change', async () => {
    let requests = 0;
    vi.stubGlobal('document', { baseURI: 'http://127.0.0.1/' });
    vi.stubGlobal('fetch', () => {
      requests += 1;
      const groups = [{ key: '0,0,10,10', count: 7 }];
      return Promise.resolve(new Response(JSON.stringify({ groups, count: 7 })));
    });
    const counter = new CellCounter();
    const question = { timeline: 'demo', filter: ALL, box: null };
    const part = { west: 0, south: 0, east: 10, north: 10 };
    const { signal } = new AbortController();
    const read = async (version: number, to: bigint, within: typeof part | null): Promise<number> => {
      const range = { from: 0n, to };
      await counter.read({ question, version, range, resolution: 10, within }, signal, () => {});
      return requests;
    };
    expect(await read(1, 5n, null)).toBe(1);
    // The counts of the whole earth include every part.
    expect([await read(1, 5n, null), await read(1, 5n, part)]).toEqual([1, 1]);
    expect([await read(1, 6n, part), await read(1, 6n, part), await read(1, 6n, null)]).toEqual([2, 2, 3]);
    expect(await read(2, 6n, null)).toBe(4);
    vi.unstubAllGlobals();
  });

  it('have a bounding box, across the antimeridian if that is smaller', () => {
    expect(boxAround([])).toBeNull();
    expect(
      boxAround([
        { lat: 10, lon: -80 },
        { lat: 50, lon: 20 },
        { lat: 30, lon: -30 },
      ]),
    ).toEqual({
      west: -80,
      east: 20,
      south: 10,
      north: 50,
    });
    expect(
      boxAround([
        { lat: -18, lon: 178 },
        { lat: -17, lon: -175 },
      ]),
    ).toMatchObject({ west: 178, east: -175 });
  });
});
