import { describe, expect, it } from 'vitest';
import { EventStore } from '../../../lib/events/store';
import { pack, shareRows } from './packing';

/** Events as pairs of start and end day; equal days make an event without duration. */
function spans(...all: [number, number][]): EventStore {
  const created = new EventStore();
  const text = (day: number): string => new Date(day * 86_400_000).toISOString();
  all.forEach(([from, to], index) =>
    created.push({ event_id: `e${index}`, time: text(from), end_time: text(to), description: '' }),
  );
  return created;
}
const rows = (store: EventStore): number[] => [...pack(store, () => 0, 1).rows];

describe('packing', () => {
  it('puts concurrent events into separate rows, the first free one each', () => {
    expect(rows(spans([0, 10], [1, 3], [2, 5], [3, 4], [6, 8], [20, 30]))).toEqual([0, 1, 2, 1, 1, 0]);
  });

  it('never overlaps events within a row', () => {
    // A fixed seed makes the test reproducible.
    let state = 7;
    const next = (most: number): number => (state = (state * 16_807) % 2_147_483_647) % most;
    const all = Array.from({ length: 400 }, (): [number, number] => {
      const from = next(1_000);
      return [from, from + next(40)];
    }).sort(([a], [b]) => a - b);
    const store = spans(...all);
    const lane = (event: number): number => event % 3;
    const found = pack(store, lane, 3);
    const overlaps = all.flatMap(([from, to], a) =>
      all.filter(
        ([begin, end], b) =>
          a !== b &&
          to > from &&
          end > begin &&
          lane(a) === lane(b) &&
          found.rows[a] === found.rows[b] &&
          from < end &&
          begin < to,
      ),
    );
    expect(overlaps).toEqual([]);
    // No more rows than the maximum number of concurrent events.
    const most = [0, 1, 2].map((one) =>
      Math.max(
        ...Array.from(
          { length: 1_100 },
          (_, day) => all.filter(([from, to], event) => lane(event) === one && from <= day && day < to).length,
        ),
      ),
    );
    expect(found.counts).toEqual(most);
  });

  it('puts a span above its parts if they start together', () => {
    expect(rows(spans([0, 2], [0, 10], [0, 5]))).toEqual([2, 0, 1]);
  });

  it('omits events without duration and links the events of a row', () => {
    const found = pack(spans([0, 4], [1, 1], [2, 6], [4, 5]), () => 0, 1);
    expect([[...found.rows], [...found.next], found.counts, found.hasMoments]).toEqual([
      [0, -1, 1, 0],
      [3, -1, -1, -1],
      [2],
      true,
    ]);
  });

  it('packs each lane separately', () => {
    const store = spans([0, 9], [1, 9], [2, 9]);
    expect([...pack(store, (event) => event % 2, 2).rows]).toEqual([0, 0, 1]);
  });
});

describe('distribution of rows', () => {
  const none = [false, false, false];

  it('gives every lane all its rows if there is room', () => {
    expect(shareRows([3, 0, 5], none, 20)).toEqual([3, 0, 5]);
  });

  it('divides the rows evenly without exceeding the needs', () => {
    expect(shareRows([10, 1, 10], none, 9)).toEqual([4, 1, 4]);
    expect(shareRows([10, 2, 10], none, 4)).toEqual([2, 1, 1]);
  });

  it('gives every lane one row if there is hardly any room', () => {
    expect(shareRows([10, 2, 10], none, 0)).toEqual([1, 1, 1]);
  });

  it('gives an open lane all its rows', () => {
    expect(shareRows([30, 5, 5], [true, false, false], 12)).toEqual([30, 1, 1]);
    expect(shareRows([3, 5, 5], [true, false, false], 9)).toEqual([3, 3, 3]);
  });
});
