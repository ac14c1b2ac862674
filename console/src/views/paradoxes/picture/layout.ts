/** The layout of diagrams. Plain numbers, so that it can be tested without a page. */
import { fitted, type Scale } from '../../../lib/chart/scale';
import type { Micros } from '../../../lib/time/instant';

interface Spot {
  x: number;
  y: number;
}

interface PathSegment {
  /** SVG path data from the edge of one node to the edge of another. */
  d: string;
  /** Position of its label. */
  at: Spot;
}

/** Returns points on an ellipse, clockwise from the top. */
export function ringPoints(count: number, width: number, height: number, inset: Spot): Spot[] {
  const center = { x: width / 2, y: height / 2 };
  return Array.from({ length: count }, (_, index) => {
    const angle = -Math.PI / 2 + (2 * Math.PI * index) / count;
    return {
      x: center.x + (center.x - inset.x) * Math.cos(angle),
      y: center.y + (center.y - inset.y) * Math.sin(angle),
    };
  });
}

/** Returns the path along a ring from one point to the next, clear of circles of this radius. */
export function ringPath(
  index: number,
  count: number,
  width: number,
  height: number,
  inset: Spot,
  radius: number,
): PathSegment {
  const center = { x: width / 2, y: height / 2 };
  const size = { x: center.x - inset.x, y: center.y - inset.y };
  const on = (turn: number): Spot => ({ x: center.x + size.x * Math.cos(turn), y: center.y + size.y * Math.sin(turn) });
  const from = -Math.PI / 2 + (2 * Math.PI * index) / count;
  const to = from + (2 * Math.PI) / count;
  // Steps along the ellipse until it has left the circle.
  const clear = (start: number, sign: 1 | -1): number => {
    const origin = on(start);
    let turn = start;
    for (let step = 0; step < 240; step++) {
      const spot = on(turn);
      if (Math.hypot(spot.x - origin.x, spot.y - origin.y) >= radius) break;
      turn += (sign * Math.PI) / 240;
    }
    return turn;
  };
  const start = clear(from, 1);
  const end = clear(to, -1);
  const spots = Array.from({ length: 13 }, (_, step) => on(start + ((end - start) * step) / 12));
  return { d: line(spots), at: on((start + end) / 2) };
}

function line(spots: Spot[]): string {
  return `M${spots.map((spot) => `${spot.x.toFixed(1)},${spot.y.toFixed(1)}`).join('L')}`;
}

interface Chain {
  spots: Spot[];
  height: number;
  columns: number;
}

/** Returns points in rows of alternating direction, so that consecutive nodes are adjacent. */
export function chainPoints(
  count: number,
  width: number,
  box: { width: number; height: number; gapX: number; gapY: number },
): Chain {
  const columns = Math.max(1, Math.min(count, Math.floor((width + box.gapX) / (box.width + box.gapX))));
  const rows = Math.ceil(count / columns);
  const used = columns * box.width + (columns - 1) * box.gapX;
  const left = (width - used) / 2;
  const spots = Array.from({ length: count }, (_, index) => {
    const row = Math.floor(index / columns);
    const place = index % columns;
    const column = row % 2 === 0 ? place : columns - 1 - place;
    return {
      x: left + column * (box.width + box.gapX) + box.width / 2,
      y: row * (box.height + box.gapY) + box.height / 2,
    };
  });
  return { spots, height: rows * box.height + (rows - 1) * box.gapY, columns };
}

/** Width of the path back, left of the first column. */
export const BACK_PATH_WIDTH = 26;

/** Returns the path between two boxes: straight between neighbors, otherwise around the outside. */
export function chainPath(
  from: Spot,
  to: Spot,
  box: { width: number; height: number; gapX: number },
  bottom: number,
): PathSegment {
  const half = { x: box.width / 2, y: box.height / 2 };
  if (Math.abs(from.y - to.y) < 1 && Math.abs(from.x - to.x) <= box.width + box.gapX + 1) {
    const sign = Math.sign(to.x - from.x);
    const [a, b] = [from.x + sign * half.x, to.x - sign * half.x];
    return {
      d: line([
        { x: a, y: from.y },
        { x: b - sign * 3, y: to.y },
      ]),
      at: { x: (a + b) / 2, y: from.y - 9 },
    };
  }
  if (Math.abs(from.x - to.x) < 1 && to.y > from.y) {
    return {
      d: line([
        { x: from.x, y: from.y + half.y },
        { x: to.x, y: to.y - half.y - 3 },
      ]),
      at: { x: from.x, y: (from.y + to.y) / 2 },
    };
  }
  const start = { x: from.x, y: from.y + half.y };
  const low = bottom + 26;
  const reach = (x: number, y: number): string => `${x.toFixed(1)},${y.toFixed(1)}`;
  if (Math.abs(from.y - to.y) < 1) {
    const end = { x: to.x, y: to.y + half.y + 3 };
    return {
      d: `M${reach(start.x, start.y)}C${reach(start.x, low + 12)} ${reach(end.x, low + 12)} ${reach(end.x, end.y)}`,
      at: { x: (start.x + end.x) / 2, y: low + 4 },
    };
  }
  // Below the last row and up left of the first column, so that it crosses no box.
  const side = to.x - half.x - BACK_PATH_WIDTH + 4;
  const turn = 10;
  const way = [
    `M${reach(start.x, start.y)}V${(low - turn).toFixed(1)}`,
    `Q${reach(start.x, low)} ${reach(start.x - turn, low)}H${(side + turn).toFixed(1)}`,
    `Q${reach(side, low)} ${reach(side, low - turn)}V${(to.y + turn).toFixed(1)}`,
    `Q${reach(side, to.y)} ${reach(side + turn, to.y)}H${(to.x - half.x - 3).toFixed(1)}`,
  ];
  return { d: way.join(''), at: { x: (start.x + side) / 2, y: low } };
}

/** Returns a scale that fits these instants between the insets. A single instant is centered. */
export function axisScale(moments: readonly Micros[], inset: number, width: number): Scale {
  const first = moments.reduce((a, b) => (b < a ? b : a));
  const last = moments.reduce((a, b) => (b > a ? b : a));
  return fitted(first, last, width, inset / Math.max(width, 1));
}

/** Half the width of an instant, and the minimum width of an interval. */
const MOMENT = 7;
const STRETCH_MIN = 6;

/** Returns the drawn extent of an interval, at least its minimum width. */
export function drawnExtent(from: number, to: number): [number, number] {
  return from === to ? [from - MOMENT, from + MOMENT] : [from, Math.max(to, from + STRETCH_MIN)];
}

/** Returns the position of a label: aligned with the start of its bar, or with the end if there is more room. */
export function labelPosition([left, right]: [number, number], width: number): { x: number; anchor: string } {
  const middle = (left + right) / 2;
  if (middle < width * 0.32) return { x: Math.max(4, left), anchor: 'start' };
  if (middle > width * 0.68) return { x: Math.min(width - 4, right), anchor: 'end' };
  return { x: middle, anchor: 'middle' };
}

/** Approximate character width, line height and padding of a plate. */
const [CHARACTER, LINE, AROUND] = [6.1, 16, 7];

interface LabelBox {
  lines: string[];
  /** Center of the text. */
  x: number;
  y: number;
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Returns a label centered at a point, within the diagram, on two lines if it is too long for one. */
export function labelBoxAt(label: string, middle: Spot, width: number): LabelBox {
  const most = Math.max(8, Math.floor((width - 2 * AROUND) / CHARACTER));
  const parts = label.split(' · ');
  // A label of two parts has one line for each.
  const at = label.length <= most ? -1 : parts.length === 2 ? parts[0]!.length : label.lastIndexOf(' ', most);
  const lines =
    at > 0
      ? [label.slice(0, at), label.slice(at).replace(/^[ ·]+/, '')].map((line) => shorten(line, most))
      : [shorten(label, most)];
  const wide = Math.max(...lines.map((line) => line.length)) * CHARACTER + 2 * AROUND;
  const high = lines.length * LINE + 2;
  const x = Math.max(wide / 2, Math.min(width - wide / 2, middle.x));
  return { lines, x, y: middle.y, left: x - wide / 2, top: middle.y - high / 2, width: wide, height: high };
}

/** Returns the baseline of each line of a plate, from the top. */
export const linesAt = ({ lines, y }: LabelBox): { line: string; y: number }[] =>
  lines.map((line, index) => ({ line, y: y + (index - (lines.length - 1) / 2) * LINE }));

/** Returns the length of a bar on a logarithmic scale, so that 900 km/h and the speed of light fit in one diagram. */
export function logShare(value: number, max: number): number {
  return max <= 1 ? 1 : Math.max(0.02, Math.min(1, Math.log10(Math.max(1, value)) / Math.log10(max)));
}

/** Shortens a text in the middle, because the beginning and the end of an id are the most distinctive. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  const tail = Math.floor((max - 1) / 3);
  return `${text.slice(0, max - 1 - tail)}…${text.slice(text.length - tail)}`;
}

/** Omits the middle of a list that is too long to draw. Returns the indices that remain and the number omitted. */
export function elide(count: number, max: number): { indices: number[]; left: number } {
  const all = Array.from({ length: count }, (_, index) => index);
  if (count <= max) return { indices: all, left: 0 };
  const head = Math.ceil((max - 1) / 2);
  const tail = max - 1 - head;
  return { indices: [...all.slice(0, head), ...all.slice(count - tail)], left: count - head - tail };
}
