import { describe, expect, it } from 'vitest';
import { bend, boxAt, edgeTo, layOutPath, type Point } from './proof-path';

/** Whether a straight line touches a box or its border. */
function touches([from, to]: [Point, Point], box: { x: number; y: number; width: number; height: number }): boolean {
  const [left, right] = [Math.min(from.x, to.x), Math.max(from.x, to.x)];
  const [top, bottom] = [Math.min(from.y, to.y), Math.max(from.y, to.y)];
  return right >= box.x && left <= box.x + box.width && bottom >= box.y && top <= box.y + box.height;
}

describe('the lines of a proof', () => {
  it.each([
    [300, 3],
    [390, 12],
    [560, 12],
    [640, 20],
  ])('at %i pixels and %i steps touch only the nodes that they join', (width, steps) => {
    const place = layOutPath(width, steps);
    const sides = Array.from({ length: steps }, (_, index) => ({ row: index + 1, isLeft: index % 3 === 0 }));
    const boxes = [
      ...Array.from({ length: steps + 1 }, (_, row) => ({ name: `own ${row}`, ...boxAt(place, row, null) })),
      ...sides.map(({ row, isLeft }) => ({ name: `sibling ${row}`, ...boxAt(place, row, isLeft) })),
    ];
    for (const { row, isLeft } of sides) {
      const corners = edgeTo(place, row, isLeft);
      const met = new Set<string>();
      corners.slice(1).forEach((to, index) => {
        const from = corners[index]!;
        expect(from.x === to.x || from.y === to.y).toBe(true);
        for (const box of boxes) if (touches([from, to], box)) met.add(box.name);
      });
      expect([...met].sort()).toEqual([`own ${row - 1}`, `sibling ${row}`]);
    }
  });

  it('have rounded corners that fit their sides', () => {
    const corners = [
      { x: 0, y: 0 },
      { x: 0, y: 10 },
      { x: 100, y: 10 },
      { x: 100, y: 16 },
    ];
    expect(bend(corners, 8)).toBe('M0,0L0,5Q0,10 5,10L97,10Q100,10 100,13L100,16');
  });
});
