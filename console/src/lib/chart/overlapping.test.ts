import { describe, expect, it } from 'vitest';
import { merged, rowsUnder, overlapping } from './overlapping';

describe('overlapping marks', () => {
  it('include a whole dot and its neighbors of other colors', () => {
    const dots = merged([
      { x: 11, y: 11, row: 3, color: 'red' },
      { x: 12, y: 12, row: 1, color: 'red' },
      { x: 12, y: 11, row: 2, color: 'blue' },
      { x: 15, y: 11, row: 4, color: 'red' },
      { x: 40, y: 40, row: 5, color: 'red' },
    ]);
    expect(dots.map(({ rows }) => rows)).toEqual([[3, 1], [2], [4], [5]]);
    expect(dots[0]).toMatchObject({ x: 11.5, y: 11.5 });
    expect(rowsUnder(dots, { x: 13, y: 13 }, 12)).toEqual([1, 2, 3, 4]);
    expect(rowsUnder(dots, { x: 39, y: 36 }, 12)).toEqual([5]);
    expect(rowsUnder(dots, { x: 60, y: 60 }, 12)).toEqual([]);
  });

  it('exclude marks at a sufficient distance', () => {
    const marks = [
      { x: 10, y: 10 },
      { x: 16, y: 10 },
      { x: 18, y: 10 },
    ];
    expect(overlapping(marks, { x: 9, y: 10 }, 12)).toEqual([marks[0]]);
    expect(overlapping(marks, { x: 17.5, y: 10 }, 12)).toEqual([marks[1], marks[2]]);
    expect(overlapping(marks, { x: 17.5, y: 10 }, 12, 1)).toEqual([marks[2]]);
  });
});
