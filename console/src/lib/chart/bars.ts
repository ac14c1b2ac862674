/** Bar charts of counts, with a linear scale from zero or a logarithmic one. */
import type { Micros } from '../time/instant';
import { niceStep } from './nice';
import type { Palette } from './palette';
import { firstAfter, type Bucket, type Counts } from '../events/counts';
import { timeAt, xOf, type Scale } from './scale';

/** Drawing context, colors and time axis of a bar chart. */
export interface Frame {
  context: CanvasRenderingContext2D;
  palette: Palette;
  scale: Scale;
  /** Times of the first and the last event. There is nothing to count outside this range. */
  extent?: { from: Micros; to: Micros } | null;
}

/** The vertical scale of a bar chart. */
export interface Heights {
  /** The count at full height. */
  max: number;
  isLog: boolean;
  /** Counts with a grid line. */
  ticks: readonly number[];
}

/** Minimum height per grid line. */
const TICK_PIXELS = 26;
/** More grid lines add no information. */
const LINES_MAX = 6;

/** Creates a scale that covers at least `most`. */
export function heights(most: number, isLog: boolean, room: number): Heights {
  const lines = Math.min(LINES_MAX, Math.max(1, Math.floor(room / TICK_PIXELS)));
  if (isLog) {
    const decades = Math.max(1, Math.ceil(Math.log10(Math.max(most, 2))));
    const each = Math.ceil((decades + 1) / (lines + 1));
    const ticks = Array.from({ length: decades + 1 }, (_, power) => 10 ** power).filter((_, i) => i % each === 0);
    return { max: 10 ** decades, isLog, ticks };
  }
  if (lines === 1) {
    const top = nextRound(most);
    return { max: top, isLog, ticks: [top] };
  }
  const step = niceStep(Math.max(most / lines, 1));
  const count = Math.max(1, Math.ceil(most / step));
  return { max: count * step, isLog, ticks: Array.from({ length: count }, (_, index) => (index + 1) * step) };
}

/** Returns the smallest count of one digit and zeros that is not less than `least`. */
function nextRound(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return Math.ceil(Math.max(least, 1) / power) * power;
}

/** Returns the fraction of the full height that a count takes. Zero takes none. */
export function share({ max, isLog }: Heights, count: number): number {
  return isLog ? Math.log10(1 + count) / Math.log10(1 + max) : count / max;
}

/** Returns the visible buckets. */
export function bucketsIn(counts: Counts, { scale }: Pick<Frame, 'scale'>): readonly Bucket[] {
  const first = firstAfter(counts, timeAt(scale, 0));
  const last = firstAfter(counts, timeAt(scale, scale.width));
  return counts.buckets.slice(first, last + 1);
}

export function maxCountIn(counts: Counts, frame: Pick<Frame, 'scale'>): number {
  return bucketsIn(counts, frame).reduce((most, bucket) => Math.max(most, bucket.count), 0);
}

/** Returns the vertical scale of a lane. */
export type LaneHeights = (lane: number) => Heights;

/**
 * Creates the scales of lanes. Named lanes share a scale so that they are comparable. The last lane has its own if it
 * holds the remainder: its counts are often so high that they would flatten the named lanes.
 */
export function laneHeights(named: readonly number[], rest: number | null, isLog: boolean, room: number): LaneHeights {
  const most = Math.max(...named, 1);
  const ofNamed = heights(most, isLog, room);
  const ofRest = heights(Math.max(rest ?? 1, most), isLog, room);
  return (lane) => (lane < named.length ? ofNamed : ofRest);
}

/** Returns the counts of events that are in none of the parts. */
export function without(counts: Counts, parts: readonly Counts[]): Counts {
  const named = new Map<Micros, number>();
  for (const part of parts) for (const { from, count } of part.buckets) named.set(from, (named.get(from) ?? 0) + count);
  const buckets = counts.buckets.flatMap((bucket) => {
    const count = bucket.count - (named.get(bucket.from) ?? 0);
    return count > 0 ? [{ ...bucket, count }] : [];
  });
  return { ...counts, buckets };
}

/** Returns the horizontal extent of a bucket, clipped to the first and the last event. */
export function sidesOf({ scale, extent }: Pick<Frame, 'scale' | 'extent'>, { from, to }: Bucket): [number, number] {
  const begin = extent && from < extent.from ? extent.from : from;
  const end = extent && to > extent.to ? extent.to : to;
  return [xOf(scale, begin), Math.max(xOf(scale, end), xOf(scale, begin) + 1)];
}

/** A horizontal section of a bar. */
export interface BarSpan {
  x: number;
  width: number;
  /** 1 within the extent of the events, less outside. */
  alpha: number;
}

const BARE_ALPHA = 0.4;

/**
 * Returns the sections of a bucket's bar. The bar has full width because its height is the count of the whole bucket.
 * Where events begin or end within the bucket, the section without events is drawn fainter, which explains a low count.
 */
export function barSpans(frame: Pick<Frame, 'scale' | 'extent'>, bucket: Bucket): BarSpan[] {
  const [left, next] = sidesOf({ scale: frame.scale }, bucket);
  const right = Math.max(next - (next - left > 4 ? 1 : 0.5), left + 1);
  const [from, to] = sidesOf(frame, bucket);
  const begin = Math.min(from, right - 1);
  const end = Math.max(Math.min(to, right), begin + 1);
  const parts = [
    { x: left, width: begin - left, alpha: BARE_ALPHA },
    { x: begin, width: end - begin, alpha: 1 },
    { x: end, width: right - end, alpha: BARE_ALPHA },
  ];
  return parts.filter(({ width }) => width > 0);
}

/** One color of a bar and the counts it represents. */
interface Part {
  color: string;
  counts: Counts;
}

/**
 * Draws a bar for each non-empty bucket, upward from the base line, or downward if `room` is negative. Parts of a bar
 * are stacked.
 */
export function paintBars(
  frame: Frame,
  whole: Counts,
  parts: readonly Part[],
  rest: string,
  scale: Heights,
  base: number,
  room: number,
): void {
  const { context } = frame;
  const all = parts.map(({ color, counts }) => ({ color, of: new Map(counts.buckets.map((b) => [b.from, b.count])) }));
  for (const bucket of bucketsIn(whole, frame)) {
    const spans = barSpans(frame, bucket);
    const fill = (color: string, top: number, partHeight: number): void => {
      context.fillStyle = color;
      for (const { x, width, alpha } of spans) {
        context.globalAlpha = alpha;
        context.fillRect(x, top, width, partHeight);
      }
    };
    const barHeight = share(scale, bucket.count) * room;
    const found = all.map(({ color, of }) => ({ color, count: of.get(bucket.from) ?? 0 }));
    const named = found.reduce((sum, part) => sum + part.count, 0);
    // Events with several values are in several parts but are one event each.
    const fit = named > bucket.count ? bucket.count / named : 1;
    let y = base;
    for (const { color, count } of [...found, { color: rest, count: bucket.count - named * fit }]) {
      if (count <= 0) continue;
      const partHeight = ((color === rest ? count : count * fit) / bucket.count) * barHeight;
      fill(color, y - partHeight, partHeight);
      y -= partHeight;
    }
    // Keep a single event visible among thousands.
    if (Math.abs(barHeight) < 1.5)
      fill(found.find((part) => part.count > 0)?.color ?? rest, base - (room > 0 ? 1.5 : 0), 1.5);
  }
  context.globalAlpha = 1;
  paintUncounted(frame, whole, base, room);
}

/** Shades the range that is not counted yet, so that it does not appear empty. */
export function paintUncounted(frame: Frame, whole: Counts, base: number, room: number): void {
  paintCover(frame, whole.until, whole.to, base, room);
}

/** Shades a range without data. */
export function paintCover(
  { context, palette, scale }: Frame,
  begin: Micros,
  end: Micros,
  base: number,
  room: number,
): void {
  const from = Math.max(0, xOf(scale, begin));
  const to = Math.min(scale.width, xOf(scale, end));
  if (to <= from) return;
  context.fillStyle = palette['line-strong'];
  context.globalAlpha = 0.25;
  context.fillRect(from, base - room, to - from, room);
  context.globalAlpha = 1;
}

/** Draws the grid lines. `paintTicks` writes their labels above the bars. */
export function paintLines({ context, palette, scale: view }: Frame, scale: Heights, base: number, room: number): void {
  context.fillStyle = palette.line;
  for (const tick of scale.ticks) context.fillRect(0, Math.round(base - share(scale, tick) * room), view.width, 1);
}

/**
 * Writes the label of each grid line on the side away from the base, so that a bar ending at the line is not covered.
 */
export function paintTicks(frame: Frame, scale: Heights, base: number, room: number): void {
  for (const tick of scale.ticks) {
    const line = Math.round(base - share(scale, tick) * room);
    paintNumber(frame, tick.toLocaleString('en'), 8, line + (room > 0 ? -6 : 7));
  }
}

/** Writes a label on an opaque background, which covers bars and the line of the current time. */
export function paintNumber({ context, palette }: Frame, text: string, x: number, middle: number): void {
  context.font = `500 11px ${palette.sans}`;
  context.textBaseline = 'middle';
  context.fillStyle = palette.surface;
  context.fillRect(x - 4, middle - 6, context.measureText(text).width + 8, 12);
  context.fillStyle = palette.muted;
  context.fillText(text, x, middle + 0.5);
}
