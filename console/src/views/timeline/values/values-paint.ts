/** Draws values over time: lines, or distributions per interval if there are many. */
import { sidesOf } from '../../../lib/chart/bars';
import { xOf, type Scale } from '../../../lib/chart/scale';
import type { Micros } from '../../../lib/time/instant';
import { hue, ungrouped, type Palette } from '../../../lib/chart/palette';
import { VALUES_HEIGHT } from '../axis/paint';
import { shareBelow, type Line, type Interval, type ValueScale } from './values';
import type { Range } from '../viewport.svelte';
import { numberText, withUnit } from '../attributes/numbers';

/** Height of the text line above the values; its end is opaque. */
export const WORDS = 33;
/** Radius of the ring around a selected dot. */
const RING = 6.5;
const TOP = WORDS + RING + 0.5;
const BOTTOM = 10;
/** Height of a cell of the distribution. */
export const CELL = 4;

interface Sheet {
  context: CanvasRenderingContext2D;
  palette: Palette;
  view: Scale;
  scale: ValueScale;
}

/** Returns the vertical position of a value. */
export function yOf(scale: ValueScale, value: number): number {
  return TOP + (1 - shareBelow(scale, value)) * (VALUES_HEIGHT - TOP - BOTTOM);
}

export function paintGrid({ context, palette, view, scale }: Sheet): void {
  context.clearRect(0, 0, view.width, VALUES_HEIGHT);
  for (const tick of scale.ticks) {
    context.fillStyle = tick === 0 ? palette['line-strong'] : palette.line;
    context.fillRect(0, Math.round(yOf(scale, tick)), view.width, 1);
  }
}

export function paintTickTexts({ context, palette, scale }: Sheet, unit = ''): void {
  context.font = `500 11px ${palette.sans}`;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  for (const tick of scale.ticks) {
    const y = Math.round(yOf(scale, tick));
    const text = withUnit(numberText(tick), unit);
    context.fillStyle = palette.surface;
    context.fillRect(5, y - 7, context.measureText(text).width + 6, 14);
    context.fillStyle = palette.muted;
    context.fillText(text, 8, y + 0.5);
  }
}

export function paintLinesOf(
  { context, palette, view, scale }: Sheet,
  lines: readonly Line[],
  { isJoined, groups, isColored, chosen }: { isJoined: boolean; groups: number; isColored: boolean; chosen: number },
): void {
  const dots = lines.reduce((sum, { points }) => sum + points.length, 0) <= 1_200;
  context.lineWidth = 1.5;
  context.lineJoin = 'round';
  for (const { group, points } of lines) {
    context.strokeStyle = context.fillStyle = group < 0 ? ungrouped(palette, isColored) : hue(palette, group, groups);
    if (isJoined && points.length > 1) {
      context.globalAlpha = 0.75;
      context.beginPath();
      for (const [index, { time, value }] of points.entries())
        context[index === 0 ? 'moveTo' : 'lineTo'](clamped(xOf(view, time), view.width), yOf(scale, value));
      context.stroke();
      context.globalAlpha = 1;
    }
    if (!dots && isJoined) continue;
    for (const { time, value } of points) {
      const x = xOf(view, time);
      if (x >= -3 && x <= view.width + 3) dot(context, x, yOf(scale, value), 2.2);
    }
  }
  const point = lines.flatMap(({ points }) => points).find(({ row }) => row === chosen);
  if (point === undefined) return;
  context.strokeStyle = palette.ink;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(xOf(view, point.time), yOf(scale, point.value), 5.5, 0, 7);
  context.stroke();
}

/** Clamps distant positions: canvases are inexact for coordinates in the millions. */
const clamped = (x: number, width: number): number => Math.max(-20_000, Math.min(width + 20_000, x));

function dot(context: CanvasRenderingContext2D, x: number, y: number, radius: number): void {
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  context.fill();
}

export function paintIntervals(
  { context, palette, view, scale }: Sheet,
  intervals: readonly Interval[],
  extent: Range | null,
): void {
  const cells = intervals.map((interval) => cellsOf(interval, scale));
  const most = Math.max(1, ...cells.flatMap((own) => [...own.values()]));
  intervals.forEach((interval, index) => {
    const [begin, end] = sidesOf({ scale: view, extent }, interval);
    const left = Math.max(-2, begin);
    const width = Math.max(1.5, Math.min(view.width + 2, end) - left - 1);
    if (left > view.width || left + width < 0) return;
    const [top, bottom] = [yOf(scale, interval.high), yOf(scale, interval.low)];
    context.fillStyle = palette.accent;
    // A line from minimum to maximum, thin enough not to be taken for values.
    context.globalAlpha = 0.3;
    context.fillRect(Math.floor(left + width / 2), top, 1, bottom - top);
    // Opacity grows with the square root of the count, so that rare values stay visible.
    for (const [cell, count] of cells[index]!) {
      context.globalAlpha = 0.14 + 0.76 * Math.sqrt(count / most);
      context.fillRect(left, cell * CELL, width, CELL);
    }
    context.globalAlpha = 1;
    context.fillStyle = palette.ink;
    context.fillRect(left, Math.round(yOf(scale, interval.mean)) - 1, width, 2);
  });
}

/** Returns the number of values in each cell row, by its index from the top. */
export function cellsOf({ values }: Interval, scale: ValueScale): Map<number, number> {
  const cells = new Map<number, number>();
  for (const { value, count } of values) {
    const cell = Math.floor(yOf(scale, value) / CELL);
    cells.set(cell, (cells.get(cell) ?? 0) + count);
  }
  return cells;
}

export function paintNowLine({ context, palette, view }: Sheet, now: Micros | null): void {
  if (now === null) return;
  const x = xOf(view, now);
  if (x < -2 || x > view.width + 2) return;
  context.fillStyle = palette.now;
  context.fillRect(Math.round(x) - 1, 0, 2, VALUES_HEIGHT);
}
