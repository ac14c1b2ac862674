/** The time ruler of an axis: tick labels and, if the strip is high enough, the larger periods below. */
import type { Palette } from './palette';
import type { Scale } from './scale';
import { ticks } from './ticks';

interface Frame {
  context: CanvasRenderingContext2D;
  palette: Palette;
  scale: Scale;
}

/** Minimum height for a second line with periods. */
const TWO_LINES = 28;
/** Height of a tick line above its label. */
const TICK = 4;
/** Height of the line at the start of a period. */
const PERIOD = 15;
/** Labels within `EDGE` pixels of a side look cut off. They fade out over the `FADE` pixels before it. */
const [EDGE, FADE] = [4, 6];
/** Minimum distance between two labels. */
const GAP = 10;

/** Draws the ruler between two vertical positions. */
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
  // On a single line, a period label replaces the label of its first tick.
  const taken: { from: number; to: number }[] = [];
  for (const [index, { x, label }] of periods.entries()) {
    const from = Math.max(x, 0) + 6;
    const to = from + context.measureText(label).width + GAP;
    if (from < (taken.at(-1)?.to ?? -Infinity) || to - GAP > (periods[index + 1]?.x ?? scale.width)) continue;
    context.fillText(label, from, isHigh ? bottom - 8 : middle);
    taken.push({ from: from - GAP, to });
  }
  for (const { x, label, isMajor } of marks) {
    const width = context.measureText(label).width;
    const [from, to] = [x - width / 2, x + width / 2];
    // A partly clipped number would read as a different one.
    const inside = (Math.min(from, scale.width - to) - EDGE) / FADE;
    if (inside <= 0) continue;
    if (!isHigh && taken.some((other) => from < other.to && to > other.from)) continue;
    context.fillStyle = isMajor ? palette.ink : palette.muted;
    context.globalAlpha = Math.min(1, inside);
    context.fillText(label, from, isHigh ? top + 11.5 : middle);
  }
  context.globalAlpha = 1;
}
