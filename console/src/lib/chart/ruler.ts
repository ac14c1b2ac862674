/** The times of an axis in a strip: its ticks with their words, and the larger periods below where there is room. */
import type { Palette } from './palette';
import type { Scale } from './scale';
import { ticks } from './ticks';

interface Frame {
  context: CanvasRenderingContext2D;
  palette: Palette;
  scale: Scale;
}

/** A strip this high has room for the periods as well. */
const TWO_LINES = 28;
/** How tall the line of a tick is, above its words. */
const TICK = 4;
/** How tall the line is with which a period begins, beside its words. */
const PERIOD = 15;
/** Nearer to a side than this words look cut: they fade on so many pixels before. */
const [EDGE, FADE] = [4, 6];
/** So much room is between two texts, at least. */
const GAP = 10;

/** Draws the times of what is shown between two heights. */
export function paintRulerStrip({ context, palette, scale }: Frame, top: number, bottom: number): void {
  const { ticks: marks, periods } = ticks(scale);
  const isHigh = bottom - top >= TWO_LINES;
  context.font = `500 11px ${palette.sans}`;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  context.fillStyle = palette['line-strong'];
  for (const { x } of marks) context.fillRect(Math.round(x), top, 1, TICK);
  for (const { x } of periods)
    if (x > 0) context.fillRect(Math.round(x), isHigh ? bottom - PERIOD : top, 1, isHigh ? PERIOD : bottom - top);
  const middle = (top + bottom) / 2 + 1.5;
  context.fillStyle = isHigh ? palette.muted : palette.ink;
  // In one line a period stands for the tick that it begins with.
  const taken: { from: number; to: number }[] = [];
  for (const [index, { x, label }] of periods.entries()) {
    const from = Math.max(x, 0) + 6;
    const to = from + context.measureText(label).width + GAP;
    if (from < (taken.at(-1)?.to ?? -Infinity) || to - GAP > (periods[index + 1]?.x ?? scale.width)) continue;
    context.fillText(label, from, isHigh ? bottom - 8 : middle);
    taken.push({ from: from - GAP, to });
  }
  for (const { x, label, isMajor } of marks) {
    const wide = context.measureText(label).width;
    const [from, to] = [x - wide / 2, x + wide / 2];
    // Half a number would be another one.
    const inside = (Math.min(from, scale.width - to) - EDGE) / FADE;
    if (inside <= 0) continue;
    if (!isHigh && taken.some((other) => from < other.to && to > other.from)) continue;
    context.fillStyle = isMajor ? palette.ink : palette.muted;
    context.globalAlpha = Math.min(1, inside);
    context.fillText(label, from, isHigh ? top + 11.5 : middle);
  }
  context.globalAlpha = 1;
}
