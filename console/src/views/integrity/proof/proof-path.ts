/** Positions of the nodes of a proof and the lines between them. Row 0 is the root, at the top. */

export interface Point {
  x: number;
  y: number;
}

interface PathPlace {
  center: number;
  /** Distance of the proof's nodes from the center. */
  aside: number;
  rowHeight: number;
  height: number;
  box: { width: number; height: number };
}

/** With more steps than this, the rows are narrower. */
const ROOMY_MAX = 12;

/** Returns the layout of a path with this many steps. */
export function layOutPath(width: number, steps: number): PathPlace {
  const rowHeight = steps > ROOMY_MAX ? 56 : 64;
  const box = { width: Math.min(150, Math.max(92, width * 0.29)), height: 40 };
  return {
    center: width / 2,
    aside: Math.min(230, width / 2 - box.width / 2 - 2),
    rowHeight,
    height: (steps + 1) * rowHeight,
    box,
  };
}

export function rowY({ rowHeight, box }: PathPlace, row: number): number {
  return row * rowHeight + box.height / 2 + 4;
}

/** Returns the center of a node: in the middle, or on one side. */
export function sideX({ center, aside }: PathPlace, isLeft: boolean | null): number {
  return isLeft === null ? center : center + (isLeft ? -aside : aside);
}

export function boxAt(place: PathPlace, row: number, isLeft: boolean | null): Point & PathPlace['box'] {
  const { box } = place;
  return { x: sideX(place, isLeft) - box.width / 2, y: rowY(place, row) - box.height / 2, ...box };
}

/**
 * Returns the corners of the line from a parent to its child at the side. It turns between the rows, because another
 * step's node is next to the parent.
 */
export function edgeTo(place: PathPlace, row: number, isLeft: boolean): Point[] {
  const { center, box } = place;
  const x = sideX(place, isLeft);
  const [from, to] = [rowY(place, row - 1) + box.height / 2, rowY(place, row) - box.height / 2];
  const across = (from + to) / 2;
  return [
    { x: center, y: from },
    { x: center, y: across },
    { x, y: across },
    { x, y: to },
  ];
}

/** Returns SVG path data of a line with rounded corners. */
export function bend(corners: readonly Point[], radius: number): string {
  const toward = (from: Point, to: Point, by: number): Point => {
    const far = Math.hypot(to.x - from.x, to.y - from.y);
    const part = far === 0 ? 0 : Math.min(by, far / 2) / far;
    return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
  };
  const text = ({ x, y }: Point): string => `${x},${y}`;
  return corners.reduce((data, corner, index) => {
    const [before, after] = [corners[index - 1], corners[index + 1]];
    if (before === undefined) return `M${text(corner)}`;
    if (after === undefined) return `${data}L${text(corner)}`;
    const least = Math.min(
      radius,
      Math.hypot(corner.x - before.x, corner.y - before.y) / 2,
      Math.hypot(after.x - corner.x, after.y - corner.y) / 2,
    );
    const [into, out] = [toward(corner, before, least), toward(corner, after, least)];
    return `${data}L${text(into)}Q${text(corner)} ${text(out)}`;
  }, '');
}
