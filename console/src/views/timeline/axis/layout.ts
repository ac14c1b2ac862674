/**
 * Layout of single events: stacked dots, if the stacks fit, and labels. All positions are pixels from the center of the
 * scale, so panning only shifts the layout.
 */
import type { Micros } from '../../../lib/time/instant';
import type { Scale } from '../../../lib/chart/scale';
import { split } from '../../../lib/chart/scale';
import type { EventStore } from '../../../lib/events/store';
import type { Label, Layout, LayoutInput, HitResult, Strips } from './picture';

export const DOT = 6;
const BIN = 7;
export const ROW = 24;
/** Minimum length in pixels of a bar for an event with a duration. */
export const BAR_MIN = 6;
export const LABEL_MAX = 230;
/** Padding around the text of a label. */
const LABEL_ROOM = 16;
const LABEL_CHARS = 34;

/**
 * Returns the vertical center of a lane's name, relative to the lane's line. Without rows, the name is above the
 * highest bar, so that it does not cover it. Lanes with rows reserve space for it.
 */
export const nameTop = ({ above, rows }: Pick<Strips, 'above' | 'rows'>): number =>
  rows === undefined ? -(above - 4) : -Math.min(above - 10, 22);

function offset(store: EventStore, row: number, center: { seconds: number; micros: number }, scale: Scale): number {
  return (
    ((store.seconds[row]! - center.seconds) * 1e6 + (store.micros[row]! - center.micros) - scale.fraction) / scale.pixel
  );
}

export function layOut(input: LayoutInput): Layout {
  const { store, scale, margin } = input;
  const from = -scale.width / 2 - margin;
  const to = scale.width / 2 + margin;
  const center = split(scale.center);
  const xs = (row: number): number => offset(store, row, center, scale);
  const first = bound(store.count, 0, (row) => xs(row) < from);
  const last = bound(store.count, first, (row) => xs(row) <= to);
  const rows = input.strips.rows?.place(input, xs, last, from) ?? null;
  const { labels, thin } = rows === null ? place(input, xs, first, last, from, to) : { labels: [], thin: [] };
  return { scale, from, to, first, last, ...stack(input, xs, first, last), labels, thin, strips: input.strips, rows };
}

/** Returns the first row from `low` on for which `isBefore` is false. */
function bound(high: number, low: number, isBefore: (row: number) => boolean): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Stacks dots that would overlap. */
function stack({ scale, strips }: LayoutInput, xs: (row: number) => number, first: number, last: number) {
  // Columns start at multiples of a whole number of microseconds, so that they keep their position while panning.
  const size = BigInt(Math.max(1, Math.round(BIN * scale.pixel)));
  const wide = Math.max(Number(size) / scale.pixel, BIN / 2);
  const middle = Number(((scale.center % size) + size) % size) + scale.fraction;
  const begin = -middle / scale.pixel;
  const heights = new Map<number, number>();
  const key = (row: number): number => Math.floor((xs(row) - begin) / wide) * 16 + stripOf(strips, row);
  // Events in lane rows are picked there.
  const isDot = (row: number): boolean => strips.rows?.has(row) !== true;
  for (let row = first; row < last; row += 1) if (isDot(row)) heights.set(key(row), (heights.get(key(row)) ?? 0) + 1);
  const room = Math.max(1, Math.floor((strips.above - 4) / DOT));
  const isDots = [...heights.values()].every((height) => height <= room);
  const count = last - first;
  const found = { isDots, xs: new Float32Array(count), ys: new Float32Array(count), columns: new Int32Array(count) };
  const levels = new Map<number, number>();
  for (let row = first; row < last; row += 1) {
    if (!isDot(row)) {
      found.xs[row - first] = NaN;
      continue;
    }
    const column = key(row);
    const level = levels.get(column) ?? 0;
    levels.set(column, level + 1);
    found.columns[row - first] = column;
    // A single dot is at its exact time; the dots of a stack share one position.
    const isAlone = !isDots || heights.get(column) === 1;
    found.xs[row - first] = isAlone ? xs(row) : begin + (Math.floor(column / 16) + 0.5) * wide;
    found.ys[row - first] = strips.ys[stripOf(strips, row)]! - DOT / 2 - 1 - (isDots ? level * DOT : 0);
  }
  return found;
}

function stripOf({ ys, groups }: Strips, row: number): number {
  return ys.length === 1 ? 0 : Math.min(groups?.[row] ?? 0, ys.length - 1);
}

export function shorten(text: string): string {
  const line = text.split('\n', 1)[0]!;
  return line.length > LABEL_CHARS ? `${line.slice(0, LABEL_CHARS - 1).trimEnd()}…` : line;
}

/** Assigns labels to lines, those with the most free time around them first. */
function place(input: LayoutInput, xs: (row: number) => number, first: number, last: number, from: number, to: number) {
  const { store, scale } = input;
  const lines = Math.max(0, Math.floor(input.below / ROW));
  const cell = 4;
  const cells = Math.ceil((to - from) / cell) + 1;
  const taken = Array.from({ length: lines }, () => new Uint8Array(cells));
  const labels: Label[] = [];
  const thin: Layout['thin'] = [];
  for (const row of candidates(input, xs, first, last, from)) {
    const start = xs(row);
    const bar = store.lengths[row]! / scale.pixel;
    const { text, width, slack, isLeft } = written(input, shorten(store.titles[row]!), start, bar);
    const begin = isLeft ? start - width : start;
    const left = Math.max(0, Math.floor((begin - 4 - from) / cell));
    const right = Math.min(cells - 1, Math.ceil((begin + width + 6 - from) / cell));
    const line = taken.findIndex((used) => isFree(used, left, right));
    if (line < 0) {
      if (bar >= 2) thin.push({ row, x: start, y: input.strips.ys[stripOf(input.strips, row)]!, bar });
      continue;
    }
    taken[line]!.fill(1, left, right + 1);
    labels.push({ row, x: start, width, bar, line, slack, isLeft, text });
  }
  return { labels, thin };
}

/** Returns the text of a label and the side of its time on which it goes. Shortens the text if it does not fit. */
function written({ scale, measure, crossings }: LayoutInput, whole: string, start: number, bar: number) {
  const half = scale.width / 2;
  const wide = (text: string): number => Math.min(measure(text), LABEL_MAX) + LABEL_ROOM;
  const width = wide(whole);
  const slack = bar >= BAR_MIN ? Math.max(0, bar - width) : 0;
  const isOnScreen = start >= -half && start <= half;
  const isClear = (from: number, to: number): boolean =>
    !crossings?.some((crossing) => crossing[0] < to && crossing[1] > from);
  const isRight =
    start + width <= half && (isClear(start, start + width) || start - width < -half || !isClear(start - width, start));
  if (bar >= BAR_MIN || !isOnScreen || isRight)
    return { text: whole, width: Math.max(width, bar), slack, isLeft: false };
  if (start - width > -half) return { text: whole, width, slack, isLeft: true };
  // The full text fits on neither side.
  const isLeft = start > 0;
  const most = half + Math.abs(start);
  let text = whole;
  while (text.length > 2 && wide(text) > most) text = `${text.slice(0, -2).trimEnd()}…`;
  return { text, width: wide(text), slack, isLeft };
}

function isFree(used: Uint8Array, left: number, right: number): boolean {
  for (let cell = left; cell <= right; cell += 1) if (used[cell] === 1) return false;
  return true;
}

function candidates(
  input: LayoutInput,
  xs: (row: number) => number,
  first: number,
  last: number,
  from: number,
): number[] {
  const { store, scale } = input;
  const found: number[] = [];
  const gap = (row: number): number => {
    const before = row > 0 ? xs(row) - xs(row - 1) : Infinity;
    const after = row + 1 < store.count ? xs(row + 1) - xs(row) : Infinity;
    return Math.max(Math.min(before, 1e9) + Math.min(after, 1e9), store.lengths[row]! / scale.pixel);
  };
  for (let row = first; row < last; row += 1) found.push(row);
  if (store.longestMicros > 0) {
    const reach = store.longestMicros / scale.pixel;
    for (let row = first - 1; row >= 0 && xs(row) > from - reach; row -= 1) {
      if (xs(row) + store.lengths[row]! / scale.pixel >= from) found.push(row);
    }
  }
  const gaps = new Map(found.map((row) => [row, gap(row)]));
  found.sort((a, b) => gaps.get(b)! - gaps.get(a)! || a - b);
  if (input.selected >= 0) {
    const at = found.indexOf(input.selected);
    if (at > 0) found.splice(at, 1);
    if (at !== 0 && xs(input.selected) >= from && input.selected < last) found.unshift(input.selected);
  }
  return found;
}

export const NONE: HitResult = { row: -1, rows: [] };

/** Returns the events under the pointer. `x` is in pixels from the center, `y` in pixels below the base line. */
export function pick(layout: Layout, x: number, y: number): HitResult {
  const inRow = layout.rows?.pick(x, y);
  if (inRow) return inRow;
  for (const label of layout.labels) {
    const top = 12 + label.line * ROW;
    const begin = label.isLeft ? label.x - label.width : label.x;
    if (x >= begin - 4 && x <= begin + label.width && y >= top - 2 && y < top + ROW - 2)
      return { row: label.row, rows: [label.row] };
  }
  if (!layout.isDots) return NONE;
  let best = -1;
  let nearest = 14;
  for (let row = layout.first; row < layout.last; row += 1) {
    const distance = Math.hypot(layout.xs[row - layout.first]! - x, layout.ys[row - layout.first]! - y);
    if (distance < nearest && layout.rows?.rows.isAt(row, y) !== false) {
      nearest = distance;
      best = row;
    }
  }
  if (best >= 0) return { row: best, rows: stackOf(layout, best) };
  const bars = layout.thin.filter((bar) => x >= bar.x && x <= bar.x + bar.bar && Math.abs(y - bar.y - 3) < 5);
  const rows = bars.map((bar) => bar.row).sort((a, b) => a - b);
  return rows.length === 0 ? NONE : { row: rows[0]!, rows };
}

/** Returns the rows of the stack that contains a row. */
function stackOf({ xs, columns, first, last }: Layout, row: number): number[] {
  const column = columns[row - first]!;
  const found: number[] = [];
  for (let other = first; other < last; other += 1)
    if (columns[other - first] === column && !Number.isNaN(xs[other - first]!)) found.push(other);
  return found;
}

/**
 * Returns the rows of a time range if all of them have the same time, so that zooming cannot split them; otherwise
 * none.
 */
export function simultaneousRows(store: EventStore, { from, to }: { from: Micros; to: Micros }): number[] {
  const first = store.lowerBound(from);
  const count = store.lowerBound(to) - first;
  if (count < 2 || store.time(first) !== store.time(first + count - 1)) return [];
  return Array.from({ length: count }, (_, index) => first + index);
}

/** Returns the position of an event's dot, relative to the center and the base line. */
export function dotAt(layout: Layout, store: EventStore, row: number): { x: number; y: number } {
  const index = row - layout.first;
  const middle = layout.rows?.middle(row) ?? null;
  if (middle !== null) return { x: offset(store, row, split(layout.scale.center), layout.scale), y: middle };
  if (index >= 0 && row < layout.last) return { x: layout.xs[index]!, y: layout.ys[index]! };
  const y = layout.strips.ys[stripOf(layout.strips, row)]! - DOT / 2 - 1;
  return { x: offset(store, row, split(layout.scale.center), layout.scale), y };
}
