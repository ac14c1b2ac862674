/** Two timelines on one axis: the bars of one above it, of the other below, and a mark for each difference. */
import type { Counts } from '../../lib/events/counts';
import { xOf, type Scale } from '../../lib/events/scale';
import { together } from '../../lib/events/together';
import { ticks } from '../../lib/events/ticks';
import type { Palette } from '../../lib/palette';
import { plain } from '../../lib/plain';
import { shorten } from '../timeline/layout';
import type { Difference } from './compare.svelte';

interface Picture {
  view: Scale;
  height: number;
  counts: { a: Counts; b: Counts } | null;
  differences: readonly Difference[];
  /** The difference that is chosen. */
  chosen: string | null;
}

/** How high the strip with the ticks is, in the middle. */
const STRIP = 34;
const EDGE = 8;
/** How far from the strip the marks are. */
const AWAY = 14;
const REACH = 12;

export function paint(context: CanvasRenderingContext2D, palette: Palette, picture: Picture): void {
  const { view, height, counts, differences, chosen } = picture;
  const [above, below] = [(height - STRIP) / 2, (height + STRIP) / 2];
  const room = above - EDGE;
  context.clearRect(0, 0, view.width, height);
  context.fillStyle = palette.raised;
  context.fillRect(0, above, view.width, STRIP);
  if (counts !== null) {
    const most = [counts.a, counts.b]
      .flatMap(({ buckets }) => buckets)
      .reduce((found, { count }) => Math.max(found, count), 1);
    context.fillStyle = palette['line-strong'];
    bars(context, view, counts.a, (tall) => [above - tall, tall], room / most);
    bars(context, view, counts.b, (tall) => [below, tall], room / most);
    scaleText(context, palette, most, height);
  }
  paintTicks(context, palette, view, above, below);
  for (const difference of differences) {
    const isChosen = difference.event_id === chosen;
    mark(context, palette, view, difference, isChosen, above, below);
  }
  names(context, palette, picture, above, below);
}

/** How many marks are named, from the left; the table has all of them. */
const NAMED_MAX = 60;
const NAME_WIDTH_MAX = 220;

/** Writes beside marks what they are, as far as there is room. The chosen one comes first. */
function names(
  context: CanvasRenderingContext2D,
  palette: Palette,
  { view, differences, chosen }: Picture,
  above: number,
  below: number,
): void {
  context.font = `500 12px ${palette.sans}`;
  context.textBaseline = 'middle';
  context.lineWidth = 4;
  context.lineJoin = 'round';
  context.strokeStyle = palette.surface;
  context.fillStyle = palette.ink;
  const taken: { left: number; right: number; y: number }[] = [];
  const ordered = [...differences].sort((a, b) => Number(b.event_id === chosen) - Number(a.event_id === chosen));
  for (const difference of ordered) {
    if (taken.length >= NAMED_MAX) return;
    for (const [event, time, y] of [
      [difference.a, difference.at.a, above - AWAY],
      [difference.b, difference.at.b, below + AWAY],
    ] as const) {
      if (time === null) continue;
      const name = shorten(plain((event?.name ?? '') || (event?.description ?? '') || difference.event_id));
      const x = xOf(view, time);
      if (x < 0 || x > view.width) continue;
      const wide = Math.min(context.measureText(name).width, NAME_WIDTH_MAX);
      const isLeft = x + REACH + wide > view.width - 4 && x - REACH - wide > 4;
      const left = isLeft ? x - REACH - wide : x + REACH;
      const right = left + wide;
      if (taken.some((other) => other.y === y && left < other.right + REACH && right > other.left - REACH)) continue;
      taken.push({ left: Math.min(left, x - REACH), right: Math.max(right, x + REACH), y });
      context.strokeText(name, left, y, NAME_WIDTH_MAX);
      context.fillText(name, left, y, NAME_WIDTH_MAX);
    }
  }
}

function bars(
  context: CanvasRenderingContext2D,
  view: Scale,
  { buckets }: Counts,
  place: (tall: number) => [number, number],
  unit: number,
): void {
  for (const { from, to, count } of buckets) {
    const left = xOf(view, from);
    const right = xOf(view, to);
    if (right < 0 || left > view.width) continue;
    const [top, tall] = place(Math.max(1.5, count * unit));
    context.fillRect(left, top, Math.max(1, right - left - 0.5), tall);
  }
}

function scaleText(context: CanvasRenderingContext2D, palette: Palette, most: number, height: number): void {
  context.font = `500 11px ${palette.sans}`;
  context.fillStyle = palette.muted;
  context.textAlign = 'right';
  context.textBaseline = 'top';
  const x = context.canvas.clientWidth - 8;
  context.fillText(most.toLocaleString('en'), x, EDGE - 4);
  context.textBaseline = 'bottom';
  context.fillText(most.toLocaleString('en'), x, height - EDGE + 4);
  context.textAlign = 'left';
}

function paintTicks(
  context: CanvasRenderingContext2D,
  palette: Palette,
  view: Scale,
  above: number,
  below: number,
): void {
  const found = ticks(view);
  context.font = `500 11px ${palette.sans}`;
  context.textBaseline = 'middle';
  context.fillStyle = palette.line;
  for (const edge of [above, below]) context.fillRect(0, Math.round(edge), view.width, 1);
  for (const { x, label, isMajor } of found.ticks) {
    context.fillStyle = palette.line;
    context.fillRect(Math.round(x), above, 1, isMajor ? STRIP : 6);
    context.fillStyle = isMajor ? palette.ink : palette.muted;
    // Half a number would be another one.
    if (x >= -4) context.fillText(label, x + 4, above + 10);
  }
  context.fillStyle = palette.muted;
  let until = -Infinity;
  for (const [index, { x, label }] of found.periods.entries()) {
    const left = Math.max(x, 0) + 6;
    const next = found.periods[index + 1]?.x ?? Infinity;
    const wide = context.measureText(label).width;
    if (left < until || left + wide > next) continue;
    context.fillText(label, left, below - 9);
    until = left + wide + 10;
  }
}

export function colorOf(palette: Palette, { change }: Pick<Difference, 'change'>): string {
  return change === 'only_in_a' ? palette['hue-1'] : change === 'only_in_b' ? palette['hue-2'] : palette['hue-4'];
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
  if (difference.at.a !== null) ends.push({ x: xOf(view, difference.at.a), y: above - AWAY });
  if (difference.at.b !== null) ends.push({ x: xOf(view, difference.at.b), y: below + AWAY });
  if (ends.every(({ x }) => x < -REACH || x > view.width + REACH)) return;
  context.strokeStyle = context.fillStyle = colorOf(palette, difference);
  context.lineWidth = isChosen ? 2.5 : 1.25;
  context.beginPath();
  // What happens on both sides is joined, aslant where it happens at another time.
  for (const { x, y } of ends.length > 1
    ? ends
    : [...ends, ...ends.map(({ x, y }) => ({ x, y: y < above ? above : below }))])
    context.lineTo(x, y);
  context.stroke();
  for (const { x, y } of ends) {
    context.beginPath();
    context.arc(x, y, isChosen ? 7 : 5, 0, 2 * Math.PI);
    context.fill();
    context.strokeStyle = palette.surface;
    context.lineWidth = 1.5;
    context.stroke();
  }
}

/** Returns the differences whose marks are under a point: the nearest one, and those that lie on it. */
export function pick(
  { view, height, differences }: Pick<Picture, 'view' | 'height' | 'differences'>,
  at: { x: number; y: number },
): Difference[] {
  const [above, below] = [(height - STRIP) / 2 - AWAY, (height + STRIP) / 2 + AWAY];
  const marks = differences.flatMap((difference) =>
    (
      [
        [difference.at.a, above],
        [difference.at.b, below],
      ] as const
    ).flatMap(([time, y]) => (time === null ? [] : [{ x: xOf(view, time), y, difference }])),
  );
  return together(marks, at, REACH).map(({ difference }) => difference);
}
