/** Counts as bars, with the scale that they are drawn to: linear from zero, or logarithmic where one asks for it. */
import type { Micros } from '../time/instant';
import { niceStep } from './nice';
import type { Palette } from './palette';
import { firstAfter, type Bucket, type Counts } from '../events/counts';
import { timeAt, xOf, type Scale } from './scale';

/** What bars are drawn on. */
export interface Frame {
  context: CanvasRenderingContext2D;
  palette: Palette;
  scale: Scale;
  /** When the first event happens, and the last; before and after there is nothing to count. */
  extent?: { from: Micros; to: Micros } | null;
}

/** How high a count is drawn. */
export interface Heights {
  /** What the top of the room stands for. */
  max: number;
  isLog: boolean;
  /** Counts that have a line of their own. */
  ticks: readonly number[];
}

/** So much room a line of the scale needs. */
const TICK_PIXELS = 26;
/** More lines than that tell no more. */
const LINES_MAX = 6;

/** Makes a scale that reaches at least up to a count. */
export function heights(most: number, isLog: boolean, room: number): Heights {
  const lines = Math.min(LINES_MAX, Math.max(1, Math.floor(room / TICK_PIXELS)));
  if (isLog) {
    const decades = Math.max(1, Math.ceil(Math.log10(Math.max(most, 2))));
    const each = Math.ceil((decades + 1) / (lines + 1));
    const ticks = Array.from({ length: decades + 1 }, (_, power) => 10 ** power).filter((_, i) => i % each === 0);
    return { max: 10 ** decades, isLog, ticks };
  }
  if (lines === 1) {
    const top = rounder(most);
    return { max: top, isLog, ticks: [top] };
  }
  const step = niceStep(Math.max(most / lines, 1));
  const count = Math.max(1, Math.ceil(most / step));
  return { max: count * step, isLog, ticks: Array.from({ length: count }, (_, index) => (index + 1) * step) };
}

/** Returns the next count of one digit and zeros. */
function rounder(least: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
  return Math.ceil(Math.max(least, 1) / power) * power;
}

/** Returns which part of the room a count takes; nothing takes none. */
export function share({ max, isLog }: Heights, count: number): number {
  return isLog ? Math.log10(1 + count) / Math.log10(1 + max) : count / max;
}

/** Returns the stretches that are in sight. */
export function bucketsIn(counts: Counts, { scale }: Pick<Frame, 'scale'>): readonly Bucket[] {
  const first = firstAfter(counts, timeAt(scale, 0));
  const last = firstAfter(counts, timeAt(scale, scale.width));
  return counts.buckets.slice(first, last + 1);
}

export function mostIn(counts: Counts, frame: Pick<Frame, 'scale'>): number {
  return bucketsIn(counts, frame).reduce((most, bucket) => Math.max(most, bucket.count), 0);
}

/** The scale of each lane, by its number. */
export type LaneHeights = (lane: number) => Heights;

/**
 * Makes the scales of lanes: one for all that have a name, so that they compare, and one for the last where it is what
 * is left over, and more than they have: often so much more that all others would be flat beside it.
 */
export function laneHeights(named: readonly number[], rest: number | null, isLog: boolean, room: number): LaneHeights {
  const most = Math.max(...named, 1);
  const ofNamed = heights(most, isLog, room);
  const ofRest = heights(Math.max(rest ?? 1, most), isLog, room);
  return (lane) => (lane < named.length ? ofNamed : ofRest);
}

/** Returns the counts of what is in no part. */
export function without(counts: Counts, parts: readonly Counts[]): Counts {
  const named = new Map<Micros, number>();
  for (const part of parts) for (const { from, count } of part.buckets) named.set(from, (named.get(from) ?? 0) + count);
  const buckets = counts.buckets.flatMap((bucket) => {
    const count = bucket.count - (named.get(bucket.from) ?? 0);
    return count > 0 ? [{ ...bucket, count }] : [];
  });
  return { ...counts, buckets };
}

/** Returns from where to where a stretch has events: they may begin or end within it. */
export function sidesOf({ scale, extent }: Pick<Frame, 'scale' | 'extent'>, { from, to }: Bucket): [number, number] {
  const begin = extent && from < extent.from ? extent.from : from;
  const end = extent && to > extent.to ? extent.to : to;
  return [xOf(scale, begin), Math.max(xOf(scale, end), xOf(scale, begin) + 1)];
}

/** A part of the width of a bar. */
export interface BarSpan {
  x: number;
  width: number;
  /** 1 where there are events, and less before the first and after the last. */
  alpha: number;
}

const BARE_ALPHA = 0.4;

/**
 * Returns the parts of the bar of a stretch. It is as wide as the others, since its height is the count of all of it;
 * where the events begin or end within the stretch, what has none apart from them says why the count may be low.
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

/** One color of a bar: how much of each stretch it is. */
export interface Part {
  color: string;
  counts: Counts;
}

/**
 * Draws a bar for each stretch that has events, from the base line up; down where the room is negative. The parts of a
 * bar are on top of each other.
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
    const fill = (color: string, top: number, high: number): void => {
      context.fillStyle = color;
      for (const { x, width, alpha } of spans) {
        context.globalAlpha = alpha;
        context.fillRect(x, top, width, high);
      }
    };
    const tall = share(scale, bucket.count) * room;
    const found = all.map(({ color, of }) => ({ color, count: of.get(bucket.from) ?? 0 }));
    const named = found.reduce((sum, part) => sum + part.count, 0);
    // Events with several values are in several parts, and still one event.
    const fit = named > bucket.count ? bucket.count / named : 1;
    let y = base;
    for (const { color, count } of [...found, { color: rest, count: bucket.count - named * fit }]) {
      if (count <= 0) continue;
      const high = ((color === rest ? count : count * fit) / bucket.count) * tall;
      fill(color, y - high, high);
      y -= high;
    }
    // One among thousands is seen too.
    if (Math.abs(tall) < 1.5)
      fill(found.find((part) => part.count > 0)?.color ?? rest, base - (room > 0 ? 1.5 : 0), 1.5);
  }
  context.globalAlpha = 1;
  paintUncounted(frame, whole, base, room);
}

/** Covers the time that is not counted yet: it is not empty. */
export function paintUncounted(frame: Frame, whole: Counts, base: number, room: number): void {
  paintCover(frame, whole.until, whole.to, base, room);
}

/** Covers a time of which nothing is known. */
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

/** Draws the lines of the scale; what they stand for is written by `paintTicks`, above the bars. */
export function paintLines({ context, palette, scale: view }: Frame, scale: Heights, base: number, room: number): void {
  context.fillStyle = palette.line;
  for (const tick of scale.ticks) context.fillRect(0, Math.round(base - share(scale, tick) * room), view.width, 1);
}

/**
 * Writes what each line of the scale stands for, on the side of it that is away from the base: a bar that ends there
 * is whole.
 */
export function paintTicks(frame: Frame, scale: Heights, base: number, room: number): void {
  for (const tick of scale.ticks) {
    const line = Math.round(base - share(scale, tick) * room);
    paintNumber(frame, tick.toLocaleString('en'), 8, line + (room > 0 ? -6 : 7));
  }
}

/** Writes with a ground of its own, which a bar or the line of now may go on above and below. */
export function paintNumber({ context, palette }: Frame, text: string, x: number, middle: number): void {
  context.font = `500 11px ${palette.sans}`;
  context.textBaseline = 'middle';
  context.fillStyle = palette.surface;
  context.fillRect(x - 4, middle - 6, context.measureText(text).width + 8, 12);
  context.fillStyle = palette.muted;
  context.fillText(text, x, middle + 0.5);
}
