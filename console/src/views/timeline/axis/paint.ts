/**
 * Draws the axis. Events are drawn once per zoom level onto an offscreen sheet, which panning only shifts; the rest is
 * drawn in each frame.
 */
import type { Lane } from '../lanes/lanes';
import type { Frame, Label, Layout, Mark, SheetScene } from './picture';
import { BAR_MIN, LABEL_MAX, ROW, dotAt } from './layout';
import type { Palette } from '../../../lib/chart/palette';
import { xOf } from '../../../lib/chart/scale';
import type { Ticks } from '../../../lib/chart/ticks';

/** Heights of the ruler (periods and ticks) and of the flag area below it. */
export const RULER = 46;
export const FLAGS = 24;

/** Height of the value chart. */
export const VALUES_HEIGHT = 116;
/** Height of the counts of the second filter. */
export const SECOND_HEIGHT = 104;
/** Height of the timer lane. */
export const TIMERS_HEIGHT = 30;

/** Draws the dots and labels of a layout. The sheet is as wide as the layout, and its base line is at `base`. */
export function paintSheet(sheet: CanvasRenderingContext2D, scene: SheetScene, base: number): void {
  const { layout, store, palette, marks, colors } = scene;
  const left = -layout.from;
  paintSoft(sheet, scene, base, left);
  if (layout.isDots) paintDots(sheet, scene, base, left);
  sheet.globalAlpha = 0.55;
  for (const { row, x, y, bar } of layout.thin) {
    sheet.fillStyle = colors(row);
    sheet.fillRect(left + x, base + y + 2, Math.max(bar, 1), 3);
  }
  sheet.globalAlpha = 1;
  paintLabels(sheet, scene, base, left);
  layout.rows?.paint(sheet, scene, base, left);
  if (layout.isDots) return;
  // With bars instead of dots, draw the mark at the label.
  for (const label of layout.labels) {
    const mark = marks.get(store.ids[label.row]!);
    if (mark) paintMark(sheet, palette, mark, left + dotAt(layout, store, label.row).x, base + 4);
  }
}

/** Stems are drawn before text, and cut out behind it: the stem of a lower label must not cross the text of another. */
function paintLabels(
  sheet: CanvasRenderingContext2D,
  { layout, palette, colors }: SheetScene,
  base: number,
  left: number,
): void {
  const top = (label: Label): number => base + 12 + label.line * ROW;
  sheet.fillStyle = palette['line-strong'];
  for (const label of layout.labels)
    if (label.bar < BAR_MIN) sheet.fillRect(Math.round(left + label.x), base + 1, 1, top(label) + 16 - base);
  sheet.globalCompositeOperation = 'destination-out';
  for (const label of layout.labels) {
    if (label.bar < BAR_MIN)
      sheet.fillRect(left + label.x + (label.isLeft ? 4 - label.width : 3), top(label) + 1, label.width - 8, ROW - 6);
  }
  sheet.globalCompositeOperation = 'source-over';
  sheet.font = `500 12.5px ${palette.sans}`;
  sheet.textBaseline = 'middle';
  for (const label of layout.labels) {
    const x = left + label.x;
    const y = top(label);
    const hasBar = label.bar >= BAR_MIN;
    if (hasBar) {
      sheet.fillStyle = colors(label.row);
      sheet.globalAlpha = 0.16;
      box(sheet, x, y, label.bar, ROW - 5, 4);
      sheet.fill();
      sheet.globalAlpha = 1;
      box(sheet, x, y, 3, ROW - 5, 1);
      sheet.fill();
    }
    sheet.textAlign = label.isLeft ? 'right' : 'left';
    if (!slides(layout, label)) write(sheet, palette, label.text, label.isLeft ? x - 7 : x + 7, y);
  }
  sheet.textAlign = 'left';
}

/**
 * Whether the view can start inside the bar of a label before the sheet is redrawn. The text of such a label moves with
 * the view.
 */
function slides({ to, scale }: Layout, label: Label): boolean {
  return label.slack > 0 && label.x < to - scale.width;
}

/**
 * Draws the labels whose text stays in view while the bar leaves it on the left. The bars are on the sheet, which
 * starts at `left`. The label lines limit the number of labels, regardless of the number of events.
 */
export function paintSliding(frame: Frame, layout: Layout, left: number): void {
  const { context, palette, scale, base } = frame;
  layout.rows?.paintMoving(frame, layout.from, layout.to, left);
  context.font = `500 12.5px ${palette.sans}`;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  for (const label of layout.labels) {
    if (!slides(layout, label)) continue;
    const x = left + label.x - layout.from;
    if (x + label.width < 0 || x > scale.width) continue;
    const moved = Math.min(label.slack, Math.max(0, -x));
    write(context, palette, label.text, x + moved + 7, base + 12 + label.line * ROW);
  }
}

/** Draws the text of a label with an outline that interrupts the now, ruler and fork lines. */
function write(context: CanvasRenderingContext2D, palette: Palette, text: string, x: number, top: number): void {
  const middle = top + (ROW - 5) / 2 + 0.5;
  context.strokeStyle = palette.surface;
  context.lineWidth = 5;
  context.lineJoin = 'round';
  context.strokeText(text, x, middle, LABEL_MAX);
  context.fillStyle = palette.ink;
  context.fillText(text, x, middle, LABEL_MAX);
}

export function paintMark(sheet: CanvasRenderingContext2D, palette: Palette, mark: Mark, x: number, y: number): void {
  sheet.fillStyle = mark.isParadox ? palette.bad : palette.warn;
  sheet.beginPath();
  sheet.moveTo(x, y - 4.5);
  sheet.lineTo(x + 4.5, y);
  sheet.lineTo(x, y + 4.5);
  sheet.lineTo(x - 4.5, y);
  sheet.fill();
}

function paintSoft(
  sheet: CanvasRenderingContext2D,
  { layout, store, colors, isIn }: SheetScene,
  base: number,
  left: number,
): void {
  if (!layout.isDots) return;
  sheet.globalAlpha = 0.16;
  for (let row = layout.first; row < layout.last; row += 1) {
    const width = store.softness[row]! / layout.scale.pixel;
    if (width < 5 || layout.rows?.has(row) || isIn?.(row) === false) continue;
    const at = dotAt(layout, store, row);
    sheet.fillStyle = colors(row);
    box(sheet, left + at.x, base + at.y - 5, width, 8, 4);
    sheet.fill();
  }
  sheet.globalAlpha = 1;
}

function paintDots(sheet: CanvasRenderingContext2D, scene: SheetScene, base: number, left: number): void {
  const { layout, store, palette, marks, colors, isIn } = scene;
  for (let row = layout.first; row < layout.last; row += 1) {
    if (layout.rows?.has(row) || isIn?.(row) === false) continue;
    const at = dotAt(layout, store, row);
    sheet.drawImage(sprite(colors(row), palette.surface), left + at.x - 4, base + at.y - 4, 8, 8);
    const mark = marks.size > 0 ? marks.get(store.ids[row]!) : undefined;
    if (mark) paintMark(sheet, palette, mark, left + at.x, base + at.y);
  }
}

const sprites = new Map<string, HTMLCanvasElement>();

/** Draws a dot once and caches it: copying is much faster than an arc per event. */
function sprite(color: string, ring: string): HTMLCanvasElement {
  const key = `${color} ${ring}`;
  const known = sprites.get(key);
  if (known) return known;
  const dot = document.createElement('canvas');
  dot.width = dot.height = 32;
  const context = dot.getContext('2d')!;
  context.fillStyle = ring;
  context.arc(16, 16, 14, 0, 7);
  context.fill();
  context.fillStyle = color;
  context.beginPath();
  context.arc(16, 16, 11.5, 0, 7);
  context.fill();
  sprites.set(key, dot);
  return dot;
}

export function box(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  width: number,
  height: number,
  radius: number,
): void {
  context.beginPath();
  context.roundRect(x, y, Math.max(width, 1), height, Math.min(radius, width / 2));
}

/** Draws the periods, the ticks and their lines. */
export function paintRuler({ context, palette, scale, height }: Frame, { ticks, periods }: Ticks): void {
  context.fillStyle = palette.line;
  for (const tick of ticks) {
    context.globalAlpha = tick.isMajor ? 1 : 0.55;
    context.fillRect(Math.round(tick.x), RULER - 6, 1, height - RULER + 6);
  }
  context.globalAlpha = 1;
  context.fillRect(0, RULER, scale.width, 1);
  context.textBaseline = 'middle';
  context.textAlign = 'center';
  for (const tick of ticks) {
    context.font = `${tick.isMajor ? 620 : 450} 12px ${palette.sans}`;
    context.fillStyle = tick.isMajor ? palette.ink : palette.muted;
    // Fade a label before the edge cuts it: half a number reads as a different number.
    const inside = Math.min(tick.x, scale.width - tick.x) - context.measureText(tick.label).width / 2;
    context.globalAlpha = Math.max(0, Math.min(1, inside / 6));
    context.fillText(tick.label, tick.x, periods.length > 0 ? 31 : 24);
  }
  context.globalAlpha = 1;
  context.textAlign = 'left';
  context.font = `620 12px ${palette.sans}`;
  context.fillStyle = palette.ink;
  periods.forEach((period, index) => {
    const next = periods[index + 1]?.x ?? Infinity;
    const x = Math.max(period.x, 0) + 10;
    const width = context.measureText(period.label).width;
    // The first period stays at the edge until the next one pushes it out. Fade labels that would be cut.
    const left = Math.min(x, next - width - 14);
    const inside = (scale.width - x - width + 10) / 16;
    context.globalAlpha = Math.max(0, Math.min(1, left / 10, inside));
    if (context.globalAlpha > 0.05) context.fillText(period.label, left, 12);
    context.globalAlpha = 1;
    if (period.x > 0) {
      context.fillStyle = palette['line-strong'];
      context.fillRect(Math.round(period.x), 4, 1, 16);
      context.fillStyle = palette.ink;
    }
  });
}

/** Shades the future. */
export function paintFuture({ context, palette, scale, height }: Frame, now: bigint): void {
  const x = Math.max(Math.round(xOf(scale, now)), 0);
  if (x >= scale.width) return;
  context.fillStyle = palette.sunken;
  context.globalAlpha = 0.75;
  context.fillRect(x, RULER + 1, scale.width - x, height - RULER - 1);
  context.globalAlpha = 1;
}

/** Draws the line of the current clock time. */
export function paintNow({ context, palette, scale, height }: Frame, now: bigint): void {
  const x = xOf(scale, now);
  if (x < -2 || x > scale.width + 2) return;
  const line = Math.round(x);
  context.fillStyle = palette.now;
  context.fillRect(line - 1, RULER - 4, 2, height - RULER + 4);
  context.beginPath();
  context.moveTo(line - 6, RULER - 9);
  context.lineTo(line + 6, RULER - 9);
  context.lineTo(line, RULER + 1);
  context.fill();
}

/** Draws the base line of the events; a fork's line starts at its fork point. */
export function paintBaseLine({ context, palette, scale, base }: Frame, lanes: readonly Lane[]): void {
  const parent = lanes.find((lane) => lane.isParent);
  const from = parent?.at == null ? 0 : Math.max(0, xOf(scale, parent.at));
  context.fillStyle = palette['line-strong'];
  context.fillRect(from, base - 0.5, scale.width - from, 2);
}
