/** Groups overlapping marks that cannot be pointed at individually. */

/** Marks closer than this overlap visually. */
const NEAR_PIXELS = 5;

interface Mark {
  x: number;
  y: number;
}

/** Returns the mark nearest to a point, if within reach, and all marks that overlap it. */
export function overlapping<Kind extends Mark>(
  marks: readonly Kind[],
  at: Mark,
  reach: number,
  near = NEAR_PIXELS,
): readonly Kind[] {
  let best: Kind | null = null;
  let least = reach;
  for (const mark of marks) {
    const distance = Math.hypot(mark.x - at.x, mark.y - at.y);
    if (distance < least) [best, least] = [mark, distance];
  }
  if (best === null) return [];
  const { x, y } = best;
  return marks.filter((mark) => Math.hypot(mark.x - x, mark.y - y) < near);
}

/** Events drawn as one dot. */
export interface Dot extends Mark {
  color: string;
  rows: number[];
}

/** Merges neighboring events of one color into one dot at their center. */
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

/** Returns the rows of the dots at a point, in time order. */
export function rowsUnder(dots: readonly Dot[], at: Mark, reach: number): number[] {
  return overlapping(dots, at, reach)
    .flatMap(({ rows }) => rows)
    .sort((a, b) => a - b);
}
