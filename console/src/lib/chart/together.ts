/** What lies on each other in a picture, so that nobody can point at one of it. */

/** Marks nearer to each other than so many pixels cannot be told apart. */
export const NEAR_PIXELS = 5;

interface Mark {
  x: number;
  y: number;
}

/** Returns the mark nearest to a point, within reach of it, and all that lie on that one. */
export function together<Kind extends Mark>(
  marks: readonly Kind[],
  at: Mark,
  reach: number,
  near = NEAR_PIXELS,
): readonly Kind[] {
  let best: Kind | null = null;
  let least = reach;
  for (const mark of marks) {
    const away = Math.hypot(mark.x - at.x, mark.y - at.y);
    if (away < least) [best, least] = [mark, away];
  }
  if (best === null) return [];
  const { x, y } = best;
  return marks.filter((mark) => Math.hypot(mark.x - x, mark.y - y) < near);
}

/** Events that are drawn as one. */
export interface Dot extends Mark {
  color: string;
  rows: number[];
}

/** Puts events of one color that are near to each other into one dot, in their middle. */
export function merged(marks: Iterable<Mark & { row: number; color: string }>): Dot[] {
  const dots = new Map<string, Dot>();
  for (const { x, y, row, color } of marks) {
    const key = `${Math.floor(x / NEAR_PIXELS)} ${Math.floor(y / NEAR_PIXELS)} ${color}`;
    const dot = dots.get(key);
    if (dot === undefined) {
      dots.set(key, { x, y, color, rows: [row] });
      continue;
    }
    dot.rows.push(row);
    dot.x += (x - dot.x) / dot.rows.length;
    dot.y += (y - dot.y) / dot.rows.length;
  }
  return [...dots.values()];
}

/** Returns the rows of what is under a point, in the order of their times. */
export function rowsUnder(dots: readonly Dot[], at: Mark, reach: number): number[] {
  return together(dots, at, reach)
    .flatMap(({ rows }) => rows)
    .sort((a, b) => a - b);
}
