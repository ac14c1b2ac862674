/**
 * Where events are drawn: dots where there is room for each, bars of density where there is not, and labels as far as
 * they fit. All in pixels from the middle of the scale it was made for, so a drag only shifts it.
 */
import type { Scale } from './scale';
import { split } from './scale';
import type { EventStore } from './store';

export const DOT = 6;
const BIN = 7;
export const ROW = 24;
/** An event that lasts has a bar where it is at least so long. */
export const BAR_MIN = 6;
const LABEL_MAX = 230;
const LABEL_CHARS = 34;
/** With more events than these in sight, those that stand close to others are not considered for a label. */
const LABELS_CONSIDERED = 3_000;
/** With more, even sparse places are not drawn dot by dot. */
const DOTS_MAX = 4_000;

/** A label, or the bar of an event that lasts, or both. */
export interface Label {
  row: number;
  x: number;
  width: number;
  /** Length of the bar in pixels; 0 for a moment. */
  bar: number;
  line: number;
  /** Whether it stands left of its moment, since it would leave the screen on the right. */
  isLeft: boolean;
  text: string;
}

export interface Layout {
  scale: Scale;
  /** From where to where it reaches, in pixels from the middle. */
  from: number;
  to: number;
  /** The rows in sight: `[first, last)`. */
  first: number;
  last: number;
  binWidth: number;
  /** Where the first bin begins. */
  binX: number;
  counts: Int32Array;
  /** The first row of each bin. */
  rows: Int32Array;
  maxCount: number;
  /** Room above the base line. */
  above: number;
  /** Bins with more events than these are bars. */
  dotsMax: number;
  labels: Label[];
  /** Events that last and have no label, thin. */
  thin: { row: number; x: number; bar: number }[];
}

interface LayoutInput {
  store: EventStore;
  scale: Scale;
  /** Room for dots above the base line, and for labels below. */
  above: number;
  below: number;
  /** How much more than the screen is laid out on each side. */
  margin: number;
  measure: (text: string) => number;
  /** A row that gets its label before all others, or −1. */
  selected: number;
}

export function offset(
  store: EventStore,
  row: number,
  center: { seconds: number; micros: number },
  scale: Scale,
): number {
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
  const bins = count(input, xs, first, last, from, to);
  const { labels, thin } = place(input, xs, first, last, from, to);
  return { scale, from, to, first, last, above: input.above, ...bins, labels, thin };
}

/** Returns the first row from `low` on for which `isBefore` does not hold. */
function bound(high: number, low: number, isBefore: (row: number) => boolean): number {
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function count(input: LayoutInput, xs: (row: number) => number, first: number, last: number, from: number, to: number) {
  // Bins begin at multiples of a whole number of microseconds, so they stay where they are when the axis is dragged.
  const size = BigInt(Math.max(1, Math.round(BIN * input.scale.pixel)));
  const binWidth = Math.max(Number(size) / input.scale.pixel, BIN / 2);
  const middle = Number(((input.scale.center % size) + size) % size) + input.scale.fraction;
  const bins = Math.ceil((to - from) / binWidth) + 2;
  const binX = -middle / input.scale.pixel - Math.ceil((-middle / input.scale.pixel - from) / binWidth) * binWidth;
  const counts = new Int32Array(bins);
  const rows = new Int32Array(bins + 1);
  let row = first;
  let maxCount = 0;
  for (let bin = 0; bin < bins; bin += 1) {
    rows[bin] = row;
    const end = binX + (bin + 1) * binWidth;
    if (row < last && xs(row) < end) row = gallop(row, last, (candidate) => xs(candidate) < end);
    counts[bin] = row - rows[bin]!;
    maxCount = Math.max(maxCount, counts[bin]!);
  }
  rows[bins] = row;
  const room = Math.max(1, Math.floor((input.above - 4) / DOT));
  const dotsMax = maxCount <= room && last - first <= DOTS_MAX ? room : 1;
  return { binWidth, binX, counts, rows, maxCount, dotsMax };
}

/** Searches in steps that double: most bins are short. */
function gallop(low: number, high: number, isBefore: (row: number) => boolean): number {
  let step = 1;
  while (low + step < high && isBefore(low + step)) {
    low += step;
    step *= 2;
  }
  return bound(Math.min(low + step, high), low, isBefore);
}

export function shorten(text: string): string {
  const line = text.split('\n', 1)[0]!;
  return line.length > LABEL_CHARS ? `${line.slice(0, LABEL_CHARS - 1).trimEnd()}…` : line;
}

/** Puts labels in lines under each other; those with the longest free time around them come first. */
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
    const text = shorten(store.titles[row]!);
    const width = Math.max(Math.min(input.measure(text), LABEL_MAX) + 16, bar);
    const isLeft =
      bar < BAR_MIN && start <= scale.width / 2 && start + width > scale.width / 2 && start - width > -scale.width / 2;
    const begin = isLeft ? start - width : start;
    const left = Math.max(0, Math.floor((begin - 4 - from) / cell));
    const right = Math.min(cells - 1, Math.ceil((begin + width + 6 - from) / cell));
    const line = taken.findIndex((used) => isFree(used, left, right));
    if (line < 0) {
      if (bar >= 2) thin.push({ row, x: start, bar });
      continue;
    }
    taken[line]!.fill(1, left, right + 1);
    labels.push({ row, x: start, width, bar, line, isLeft, text });
  }
  return { labels, thin };
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
  const isMany = last - first > LABELS_CONSIDERED;
  for (let row = first; row < last; row += 1) if (!isMany || gap(row) > 10) found.push(row);
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

/** What is under the pointer: `x` in pixels from the middle, `y` from the base line, downwards. */
export function pick(layout: Layout, store: EventStore, x: number, y: number): number {
  for (const label of layout.labels) {
    const top = 12 + label.line * ROW;
    const begin = label.isLeft ? label.x - label.width : label.x;
    if (x >= begin - 4 && x <= begin + label.width && y >= top - 2 && y < top + ROW - 2) return label.row;
  }
  let best = -1;
  let nearest = 16;
  const center = split(layout.scale.center);
  const bin = Math.floor((x - layout.binX) / layout.binWidth);
  for (let near = bin - 2; near <= bin + 2; near += 1) {
    const total = layout.counts[near] ?? 0;
    const isStack = total <= layout.dotsMax;
    // In a bar every event is as near as its moment.
    const shown = isStack ? total : Math.min(total, 512);
    for (let index = 0; index < shown; index += 1) {
      const row = layout.rows[near]! + index;
      const dot = isStack ? dotAt(layout, store, row) : { x: offset(store, row, center, layout.scale), y };
      const distance = isStack || y <= 4 ? Math.hypot(dot.x - x, dot.y - y) : Infinity;
      if (distance < nearest) {
        nearest = distance;
        best = row;
      }
    }
  }
  return best;
}

/**
 * Returns where the dot of an event is: from the middle, and from the base line; in a bar, where it would stand alone.
 */
export function dotAt(layout: Layout, store: EventStore, row: number): { x: number; y: number } {
  const x = offset(store, row, split(layout.scale.center), layout.scale);
  const bin = Math.floor((x - layout.binX) / layout.binWidth);
  const total = layout.counts[bin] ?? 0;
  const index = row - (layout.rows[bin] ?? 0);
  // One alone stands where it happened; a stack stands upright.
  if (total <= 1 || total > layout.dotsMax || index < 0 || index >= total) return { x, y: dotY(0) };
  return { x: layout.binX + (bin + 0.5) * layout.binWidth, y: dotY(index) };
}

/** Returns how far below the base line the middle of a dot is; negative, for it stands above. */
function dotY(index: number): number {
  return -DOT / 2 - 1 - index * DOT;
}
