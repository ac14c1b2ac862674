/** Draws two timelines on one axis: bars of one above it and of the other below, with a mark for each difference. */
import { heights, maxCountIn, paintBars, paintCover, paintLines, paintTicks } from '../../lib/chart/bars';
import { bucketAt, type Bucket, type Counts } from '../../lib/events/counts';
import { paintRulerStrip } from '../../lib/chart/ruler';
import { FIRST, LAST, xOf, type Scale } from '../../lib/chart/scale';
import { ticks } from '../../lib/chart/ticks';
import { overlapping } from '../../lib/chart/overlapping';
import type { Palette } from '../../lib/chart/palette';
import { plain } from '../../lib/text/plain';
import { shorten } from '../timeline/axis/layout';
import type { Difference } from './compare.svelte';

interface Picture {
  view: Scale;
  height: number;
  counts: { a: Counts; b: Counts } | null;
  /** Whether counts use a logarithmic scale. */
  isLog: boolean;
  differences: readonly Difference[];
  /** The selected difference. */
  chosen: string | null;
}

/** Height of the strip with the ticks, in the middle. */
const STRIP = 34;
/** Space for the labels at the outer edges. */
const EDGE = 34;
/** Distance of the marks from the strip. */
const GAP = 14;
const REACH = 12;
/** Thickness of the bar of an event with a duration. */
const BAR = 5;

export function paint(context: CanvasRenderingContext2D, palette: Palette, picture: Picture): void {
  const { view, height, differences, chosen } = picture;
  const [above, below] = [(height - STRIP) / 2, (height + STRIP) / 2];
  context.clearRect(0, 0, view.width, height);
  paintGrid(context, palette, picture);
  context.fillStyle = palette.raised;
  context.fillRect(0, above, view.width, STRIP);
  paintCounts(context, palette, picture, above, below);
  paintTimes(context, palette, view, above, below);
  for (const difference of differences) {
    const isChosen = difference.event_id === chosen;
    mark(context, palette, view, difference, isChosen, above, below);
  }
  paintNames(context, palette, picture);
}

/** Draws grid lines through both sides, as on the timeline. */
function paintGrid(context: CanvasRenderingContext2D, palette: Palette, { view, height }: Picture): void {
  context.fillStyle = palette.line;
  for (const { x, isMajor } of ticks(view).ticks) {
    context.globalAlpha = isMajor ? 1 : 0.55;
    context.fillRect(Math.round(x), 0, 1, height);
  }
  context.globalAlpha = 1;
}

/** Maximum number of labels, from the left. The table lists all differences. */
const NAMED_MAX = 60;
const NAME_WIDTH_MAX = 220;

/** Shortens a name to the available width; '' if not even one letter fits. */
export function cut(name: string, room: number, widthOf: (text: string) => number): string {
  if (widthOf(name) <= room) return name;
  for (let length = name.length - 1; length > 0; length -= 1) {
    const text = `${name.slice(0, length).trimEnd()}…`;
    if (widthOf(text) <= room) return text;
  }
  return '';
}

/** A truncated label must have at least this many letters. */
const LETTERS_MIN = 8;
/** Marks closer than this are treated as one. */
const SAME_PIXELS = 6;

interface Name {
  text: string;
  left: number;
  y: number;
}

/** Returns the labels of marks, as long as the space before the next mark allows. The selected one has priority. */
export function nameLabels(
  { view, differences, chosen, height }: Pick<Picture, 'view' | 'differences' | 'chosen' | 'height'>,
  widthOf: (text: string) => number,
): Name[] {
  const [above, below] = [(height - STRIP) / 2 - GAP, (height + STRIP) / 2 + GAP];
  const xs = (side: 'a' | 'b'): number[] => differences.flatMap(({ at }) => at[side] ?? []).map((at) => xOf(view, at));
  const marks = { a: xs('a'), b: xs('b') };
  const names: Name[] = [];
  const taken: { left: number; right: number; y: number }[] = [];
  const ordered = [...differences].sort((a, b) => Number(b.event_id === chosen) - Number(a.event_id === chosen));
  for (const difference of ordered) {
    if (taken.length >= NAMED_MAX) break;
    for (const [side, y] of [
      ['a', above],
      ['b', below],
    ] as const) {
      const [event, time] = [difference[side], difference.at[side]];
      if (time === null) continue;
      const name = shorten(plain((event?.name ?? '') || (event?.description ?? '') || difference.event_id));
      const x = xOf(view, time);
      if (x < 0 || x > view.width) continue;
      const last = Math.max(0, ...marks[side].filter((other) => other < x - SAME_PIXELS).map((other) => other + REACH));
      const next = Math.min(
        view.width,
        ...marks[side].filter((other) => other > x + SAME_PIXELS).map((other) => other - REACH),
      );
      const [before, after] = [x - last - REACH - 4, next - x - REACH - 4];
      const isLeft = widthOf(name) > after && before > after;
      const text = cut(name, Math.min(NAME_WIDTH_MAX, isLeft ? before : after), widthOf);
      if (text.length < Math.min(name.length, LETTERS_MIN)) continue;
      const wide = widthOf(text);
      const left = isLeft ? x - REACH - wide : x + REACH;
      const right = left + wide;
      if (taken.some((other) => other.y === y && left < other.right + REACH && right > other.left - REACH)) continue;
      taken.push({ left: Math.min(left, x - REACH), right: Math.max(right, x + REACH), y });
      names.push({ text, left, y });
    }
  }
  return names;
}

function paintNames(context: CanvasRenderingContext2D, palette: Palette, picture: Picture): void {
  context.font = `500 12px ${palette.sans}`;
  context.textBaseline = 'middle';
  context.lineWidth = 4;
  context.lineJoin = 'round';
  context.strokeStyle = palette.surface;
  context.fillStyle = palette.ink;
  for (const { text, left, y } of nameLabels(picture, (text) => context.measureText(text).width)) {
    context.strokeText(text, left, y);
    context.fillText(text, left, y);
  }
}

/** Maximum height of one event. A full-height bar would suggest many events. */
const EVENT_HEIGHT_MAX = 24;

/** Returns the minimum upper end of the count scale, so that one event is at most EVENT_HEIGHT_MAX high. */
export const minTopCount = (room: number): number => Math.max(1, Math.ceil(room / EVENT_HEIGHT_MAX));

/** Returns how many events of a side differ from the other one, per bucket and kind of difference. */
export function differingCounts(
  own: Counts,
  side: 'a' | 'b',
  differences: readonly Difference[],
): { change: Difference['change']; counts: Counts }[] {
  const kinds = side === 'a' ? (['only_in_base', 'differs'] as const) : (['only_in_compare', 'differs'] as const);
  return kinds.map((change) => {
    const found = new Map<Bucket, number>();
    for (const { change: kind, at } of differences) {
      const bucket = kind === change && at[side] !== null ? bucketAt(own, at[side]) : null;
      if (bucket !== null) found.set(bucket, (found.get(bucket) ?? 0) + 1);
    }
    const buckets = [...found].map(([bucket, count]) => ({ ...bucket, count: Math.min(count, bucket.count) }));
    return { change, counts: { ...own, buckets, count: buckets.reduce((sum, { count }) => sum + count, 0) } };
  });
}

/**
 * Draws the event counts of both sides on one scale, up to the maximum in view. Differing events have the color of
 * their marks.
 */
function paintCounts(
  context: CanvasRenderingContext2D,
  palette: Palette,
  { view, counts, isLog, differences }: Picture,
  above: number,
  below: number,
): void {
  const frame = { context, palette, scale: view };
  const room = above - EDGE;
  const sides = [
    { side: 'a', own: counts?.a ?? null, base: above, room },
    { side: 'b', own: counts?.b ?? null, base: below, room: -room },
  ] as const;
  const most = Math.max(minTopCount(room), ...sides.map(({ own }) => (own === null ? 0 : maxCountIn(own, frame))));
  const scale = heights(most, isLog, room);
  for (const { side: name, own, base, room: side } of sides) {
    if (own === null) {
      paintCover(frame, FIRST, LAST, base, side);
      continue;
    }
    paintLines(frame, scale, base, side);
    // On a logarithmic scale, a bar cannot be divided into shares.
    const parts = isLog ? [] : differingCounts(own, name, differences);
    const colored = parts.map(({ change, counts: some }) => ({ color: colorOf(palette, { change }), counts: some }));
    paintBars(frame, own, colored, palette.faint, scale, base, side);
    // A part that was panned into view is not counted yet.
    paintCover(frame, FIRST, own.from, base, side);
    paintCover(frame, own.to, LAST, base, side);
  }
  if (counts !== null) for (const { base, room: side } of sides) paintTicks(frame, scale, base, side);
}

function paintTimes(
  context: CanvasRenderingContext2D,
  palette: Palette,
  view: Scale,
  above: number,
  below: number,
): void {
  context.fillStyle = palette.line;
  for (const edge of [above, below]) context.fillRect(0, Math.round(edge), view.width, 1);
  paintRulerStrip({ context, palette, scale: view }, above, below);
}

function colorOf(palette: Palette, { change }: Pick<Difference, 'change'>): string {
  return change === 'only_in_base'
    ? palette['hue-1']
    : change === 'only_in_compare'
      ? palette['hue-2']
      : palette['hue-4'];
}

function mark(
  context: CanvasRenderingContext2D,
  palette: Palette,
  view: Scale,
  difference: Difference,
  isChosen: boolean,
  above: number,
  below: number,
): void {
  const ends: { x: number; y: number }[] = [];
  if (difference.at.a !== null) ends.push({ x: xOf(view, difference.at.a), y: above - GAP });
  if (difference.at.b !== null) ends.push({ x: xOf(view, difference.at.b), y: below + GAP });
  const isIn = ends.some(({ x }) => x >= -REACH && x <= view.width + REACH);
  if (!isIn && barsOf(view, difference, above, below).length === 0) return;
  context.strokeStyle = context.fillStyle = colorOf(palette, difference);
  context.lineWidth = isChosen ? 2.5 : 1.25;
  context.beginPath();
  // Connects the marks of an event on both sides, with a slanted line if its time differs.
  for (const { x, y } of ends.length > 1
    ? ends
    : [...ends, ...ends.map(({ x, y }) => ({ x, y: y < above ? above : below }))])
    context.lineTo(x, y);
  context.stroke();
  // The duration is a bar along the strip.
  for (const { left, right, y } of barsOf(view, difference, above, below)) {
    context.fillRect(left, y < above ? above - BAR : below, right - left, BAR);
  }
  for (const { x, y } of ends) {
    context.beginPath();
    context.arc(x, y, isChosen ? 7 : 5, 0, 2 * Math.PI);
    context.fill();
    context.strokeStyle = palette.surface;
    context.lineWidth = 1.5;
    context.stroke();
  }
}

/** Returns the bars of an event with a duration on each side that has it. */
function barsOf(
  view: Scale,
  { at, until }: Difference,
  above: number,
  below: number,
): { left: number; right: number; y: number }[] {
  return (['a', 'b'] as const).flatMap((side) => {
    const [begin, end] = [at[side], until[side]];
    if (begin === null || end === null || end <= begin) return [];
    const [left, right] = [Math.max(xOf(view, begin), -REACH), Math.min(xOf(view, end), view.width + REACH)];
    return right > left ? [{ left, right, y: side === 'a' ? above - GAP : below + GAP }] : [];
  });
}

/** Returns the differences whose marks are at a point: the nearest one and those that overlap it. */
export function pick(
  { view, height, differences }: Pick<Picture, 'view' | 'height' | 'differences'>,
  at: { x: number; y: number },
): Difference[] {
  const [above, below] = [(height - STRIP) / 2 - GAP, (height + STRIP) / 2 + GAP];
  const marks = differences.flatMap((difference) =>
    (
      [
        [difference.at.a, above],
        [difference.at.b, below],
      ] as const
    ).flatMap(([time, y]) => {
      if (time === null) return [];
      const bar = barsOf(view, difference, above + GAP, below - GAP).find((bar) => bar.y === y);
      const x = bar ? Math.max(bar.left, Math.min(at.x, bar.right)) : xOf(view, time);
      return [{ x, y, difference }];
    }),
  );
  return overlapping(marks, at, REACH).map(({ difference }) => difference);
}
