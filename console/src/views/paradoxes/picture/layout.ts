/** Where the parts of a picture stand. Plain numbers, so that they can be tested without a page. */
import { fitted, type Scale } from '../../../lib/chart/scale';
import type { Micros } from '../../../lib/time/instant';

interface Spot {
  x: number;
  y: number;
}

interface Way {
  /** A path in SVG's words, from the edge of one thing to that of another. */
  d: string;
  /** Where its label stands. */
  at: Spot;
}

/** Returns spots on an ellipse, clockwise from the top. */
export function ringSpots(count: number, width: number, height: number, inset: Spot): Spot[] {
  const center = { x: width / 2, y: height / 2 };
  return Array.from({ length: count }, (_, index) => {
    const angle = -Math.PI / 2 + (2 * Math.PI * index) / count;
    return {
      x: center.x + (center.x - inset.x) * Math.cos(angle),
      y: center.y + (center.y - inset.y) * Math.sin(angle),
    };
  });
}

/** Returns the way along a ring from one of its spots to the next, kept clear of circles of that radius. */
export function ringWay(index: number, count: number, width: number, height: number, inset: Spot, radius: number): Way {
  const center = { x: width / 2, y: height / 2 };
  const size = { x: center.x - inset.x, y: center.y - inset.y };
  const on = (turn: number): Spot => ({ x: center.x + size.x * Math.cos(turn), y: center.y + size.y * Math.sin(turn) });
  const from = -Math.PI / 2 + (2 * Math.PI * index) / count;
  const to = from + (2 * Math.PI) / count;
  // Steps along the ellipse until the circles at both ends are left.
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

export interface Chain {
  spots: Spot[];
  height: number;
  columns: number;
}

/** Returns spots in rows that turn at the end, as an ox plows, so that each thing is beside the one before. */
export function chainSpots(
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

/** How much room a way back takes beside the first column. */
export const BACK_ROOM = 26;

/**
 * Returns the way from one box to another: straight where they are neighbors, around the outside where they are not.
 */
export function chainWay(
  from: Spot,
  to: Spot,
  box: { width: number; height: number; gapX: number },
  bottom: number,
): Way {
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
  // Below the last row and up beside the first column, so that it crosses no box.
  const side = to.x - half.x - BACK_ROOM + 4;
  const turn = 10;
  const way = [
    `M${reach(start.x, start.y)}V${(low - turn).toFixed(1)}`,
    `Q${reach(start.x, low)} ${reach(start.x - turn, low)}H${(side + turn).toFixed(1)}`,
    `Q${reach(side, low)} ${reach(side, low - turn)}V${(to.y + turn).toFixed(1)}`,
    `Q${reach(side, to.y)} ${reach(side + turn, to.y)}H${(to.x - half.x - 3).toFixed(1)}`,
  ];
  return { d: way.join(''), at: { x: (start.x + side) / 2, y: low } };
}

/** Returns the scale on which some moments are between two places; one moment alone stands in the middle. */
export function axisScale(moments: readonly Micros[], inset: number, width: number): Scale {
  const first = moments.reduce((a, b) => (b < a ? b : a));
  const last = moments.reduce((a, b) => (b > a ? b : a));
  return fitted(first, last, width, inset / Math.max(width, 1));
}

/** How wide what stands for a moment is to each side, and how wide a short stretch is at least. */
export const MOMENT = 7;
export const STRETCH_MIN = 6;

/** Returns from where to where something is drawn that begins and ends there. */
export function drawnFrom(from: number, to: number): [number, number] {
  return from === to ? [from - MOMENT, from + MOMENT] : [from, Math.max(to, from + STRETCH_MIN)];
}

/** Returns where a name stands: it begins where that begins which it names, or ends where it ends, as there is room. */
export function nameAt([left, right]: [number, number], width: number): { x: number; anchor: string } {
  const middle = (left + right) / 2;
  if (middle < width * 0.32) return { x: Math.max(4, left), anchor: 'start' };
  if (middle > width * 0.68) return { x: Math.min(width - 4, right), anchor: 'end' };
  return { x: middle, anchor: 'middle' };
}

/** How wide a character of a label is, about, how high a line of it is, and what is around it on its plate. */
const [CHARACTER, LINE, AROUND] = [6.1, 16, 7];

interface Plate {
  lines: string[];
  /** The middle of the words. */
  x: number;
  y: number;
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Returns a label in the middle of what it tells of, in two lines where one is too long, and inside of the picture. */
export function plateAt(label: string, middle: Spot, width: number): Plate {
  const most = Math.max(8, Math.floor((width - 2 * AROUND) / CHARACTER));
  const parts = label.split(' · ');
  // Where it has two parts, each is a line.
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

/** Returns where each line of a plate stands, from the top. */
export const linesAt = ({ lines, y }: Plate): { line: string; y: number }[] =>
  lines.map((line, index) => ({ line, y: y + (index - (lines.length - 1) / 2) * LINE }));

/** Returns a share of a bar on a scale of tenfolds, so that 900 km/h and the speed of light fit one picture. */
export function logShare(value: number, max: number): number {
  return max <= 1 ? 1 : Math.max(0.02, Math.min(1, Math.log10(Math.max(1, value)) / Math.log10(max)));
}

/** Shortens what does not fit: the beginning and the end of an id tell more than its middle. */
export function shorten(text: string, max: number): string {
  if (text.length <= max) return text;
  const tail = Math.floor((max - 1) / 3);
  return `${text.slice(0, max - 1 - tail)}…${text.slice(text.length - tail)}`;
}

/** Leaves out the middle of what is too much to draw; returns the indices that stay, and how many went. */
export function elide(count: number, max: number): { indices: number[]; left: number } {
  const all = Array.from({ length: count }, (_, index) => index);
  if (count <= max) return { indices: all, left: 0 };
  const head = Math.ceil((max - 1) / 2);
  const tail = max - 1 - head;
  return { indices: [...all.slice(0, head), ...all.slice(count - tail)], left: count - head - tail };
}
