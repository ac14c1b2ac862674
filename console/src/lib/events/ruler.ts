/** The times of an axis in a strip: its ticks with their words, and the larger periods below where there is room. */
import type { Palette } from '../palette';
import type { Scale } from './scale';
import { ticks } from './ticks';

interface Frame {
  context: CanvasRenderingContext2D;
  palette: Palette;
  scale: Scale;
}

/** A strip this high has room for the periods as well. */
const TWO_LINES = 28;
/** How tall the line of a tick is. */
const TICK = 6;
/** What ends nearer to the right side than this looks cut. */
const EDGE = 4;
/** So much room is between two texts, at least. */
const GAP = 10;

/** Draws the times of what is shown between two heights. */
export function paintRulerStrip({ context, palette, scale }: Frame, top: number, bottom: number): void {
  const { ticks: marks, periods } = ticks(scale);
  const isHigh = bottom - top >= TWO_LINES;
  context.font = `500 11px ${palette.sans}`;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  context.fillStyle = palette.line;
  for (const { x, isMajor } of marks) context.fillRect(Math.round(x), top, 1, isMajor ? bottom - top : TICK);
  const middle = (top + bottom) / 2 + 0.5;
  context.fillStyle = isHigh ? palette.muted : palette.ink;
  // In one line a period stands for the tick that it begins with.
  const taken: { from: number; to: number }[] = [];
  for (const [index, { x, label }] of periods.entries()) {
    const from = Math.max(x, 0) + 6;
    const to = from + context.measureText(label).width + GAP;
    if (from < (taken.at(-1)?.to ?? -Infinity) || to - GAP > (periods[index + 1]?.x ?? scale.width)) continue;
    context.fillText(label, from, isHigh ? bottom - 9 : middle);
    taken.push({ from: from - GAP, to });
  }
  for (const { x, label, isMajor } of marks) {
    const from = x + 4;
    const to = from + context.measureText(label).width;
    // Half a number would be another one.
    if (x < -4 || to > scale.width - EDGE) continue;
    if (!isHigh && taken.some((other) => from < other.to && to > other.from)) continue;
    context.fillStyle = isMajor ? palette.ink : palette.muted;
    context.fillText(label, from, isHigh ? top + 10 : middle);
  }
}
