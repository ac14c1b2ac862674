/**
 * Overlay of the events: lane names, forks, anchors, search hits, the selection and the dimmed areas. The first picture
 * does not need it.
 */
import type { Anchor } from '../../../lib/timelines/anchors';
import type { Micros } from '../../../lib/time/instant';
import { paintNumber, type LaneHeights } from '../../../lib/chart/bars';
import { xOf, type Scale } from '../../../lib/chart/scale';
import { hue } from '../../../lib/chart/palette';
import type { Legend } from '../groups/groups';
import type { Lane } from '../lanes/lanes';
import type { Crossing, Frame, Strips } from './picture';
import { nameTop } from './layout';
import type { EventStore } from '../../../lib/events/store';
import { FLAGS, RULER, box } from './paint';
import type { EventSummary } from '../model.svelte';

/**
 * Draws the lines of related timelines from their fork points. With lanes, forks branch off below the last lane, and
 * the parent joins above the first one, at `head`.
 */
export function paintForks(
  frame: Frame,
  lanes: readonly Lane[],
  laneY: (index: number) => number,
  head: number | null,
): void {
  const { context, palette, scale, base } = frame;
  const own = head ?? base;
  const parent = lanes.find((lane) => lane.isParent);
  const began = parent?.at === undefined || parent.at === null ? -Infinity : xOf(scale, parent.at);
  context.lineWidth = 2;
  context.strokeStyle = palette['line-strong'];
  // The time before the fork belongs to the parent.
  if (began > 0 && parent) line(context, 0, Math.min(began, scale.width), own + 0.5, [2, 5]);
  if (head !== null && parent) line(context, Math.max(0, began + BRANCH_WIDE), scale.width, own, []);
  lanes.forEach((lane, index) => {
    const y = laneY(index);
    const at = lane.at === null ? 0 : Math.max(-60, Math.min(scale.width + 60, xOf(scale, lane.at)));
    context.strokeStyle = lane.isParent ? palette.muted : palette.good;
    context.globalAlpha = 0.75;
    if (lane.isParent) {
      line(context, 0, scale.width, y, []);
      branch(context, at, y, own);
    } else {
      branch(context, at, base, y);
      line(context, Math.min(at + BRANCH_WIDE, scale.width), scale.width, y, []);
    }
    context.globalAlpha = 1;
  });
}

/** Returns the lanes that show a scale label: the top lane, and every lane with a different maximum. */
export function lanesWithScale(fromTop: readonly number[], heightsOf: LaneHeights): ReadonlySet<number> {
  const [first] = fromTop;
  return new Set(fromTop.filter((lane) => lane === first || heightsOf(lane).max !== heightsOf(first!).max));
}

/** Maximum width of a lane name. */
const NAME_MAX = 180;

/** Draws the name of each lane above its bars and the line below them. */
export function paintLaneNames(
  { context, palette, base, scale }: Frame,
  { groups }: Legend,
  strips: Strips,
  heights: LaneHeights | null,
  isIn: (lane: number) => boolean,
  widthOf: (name: string) => number,
): void {
  const order = strips.ys.map((_, lane) => lane).sort((a, b) => strips.ys[a]! - strips.ys[b]!);
  const labeled = heights === null ? null : lanesWithScale(order, heights);
  strips.ys.forEach((y, index) => {
    if (!isIn(index)) return;
    context.fillStyle = palette.line;
    context.fillRect(0, base + y, scale.width, 1);
    const name = groups[index]?.key ?? 'others';
    context.font = `600 11.5px ${palette.sans}`;
    context.textBaseline = 'middle';
    const top = base + y + nameTop(strips);
    const width = Math.min(widthOf(name), NAME_MAX);
    context.globalAlpha = 0.82;
    context.fillStyle = palette.surface;
    context.fillRect(4, top - 8, width + 22, 16);
    context.globalAlpha = 1;
    context.fillStyle = hue(palette, index, groups.length);
    context.fillRect(8, top - 4, 8, 8);
    context.fillStyle = palette.ink;
    context.fillText(name, 21, top + 0.5, NAME_MAX);
    // Leave room for the pin button next to the name.
    if (labeled?.has(index))
      paintNumber({ context, palette, scale }, `0–${heights!(index).max.toLocaleString('en')}`, width + 57, top);
  });
}

/** Labels are laid out again each time the now line has moved this many pixels. */
const NOW_STEP = 64;

/** Returns the position of the now line in steps; 0 if it is far outside the view. */
export function nowStep({ now, scale }: { now: Micros | null; scale: Scale }): number {
  if (now === null || Math.abs(xOf(scale, now)) > scale.width * 2) return 0;
  return Math.round(Number(now) / scale.pixel / NOW_STEP);
}

/** Width of the now line, width of a fork's curve, and the gap around both. */
const [NOW_WIDE, BRANCH_WIDE, GAP] = [2, 26, 3];

/** Returns where the now and fork lines cross the labels, in pixels from the center. */
export function crossings(scale: Scale, lanes: readonly Lane[], now: Micros | null): Crossing[] {
  const at = (time: Micros, wide: number): Crossing => {
    const x = xOf(scale, time) - scale.width / 2;
    return [x - GAP, x + wide + GAP];
  };
  // The parent of a fork is drawn above the events, as is its curve.
  const forks = lanes.flatMap((lane) => (lane.isParent || lane.at === null ? [] : [at(lane.at, BRANCH_WIDE)]));
  return now === null ? forks : [...forks, at(now, NOW_WIDE)];
}

function line(context: CanvasRenderingContext2D, from: number, to: number, y: number, dash: number[]): void {
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(from, y);
  context.lineTo(to, y);
  context.stroke();
  context.setLineDash([]);
}

function branch(context: CanvasRenderingContext2D, x: number, from: number, to: number): void {
  context.beginPath();
  context.moveTo(x, from);
  context.bezierCurveTo(x + 14, from, x + 10, to, x + BRANCH_WIDE, to);
  context.stroke();
  context.beginPath();
  context.arc(x, from, 3, 0, 7);
  context.fillStyle = context.strokeStyle;
  context.fill();
}

/** Marks the times of search hits. */
export function paintHits({ context, palette, scale, base }: Frame, hits: readonly Micros[]): void {
  context.fillStyle = palette.now;
  for (const time of hits) {
    const x = xOf(scale, time);
    if (x < -4 || x > scale.width + 4) continue;
    box(context, x - 1.5, base + 2, 3, 8, 1.5);
    context.fill();
  }
}

/** An anchor and its time on the axis. */
interface PlacedAnchor {
  anchor: Anchor;
  time: Micros;
}

export function paintAnchors({ context, palette, scale, base }: Frame, anchors: readonly PlacedAnchor[]): void {
  context.fillStyle = palette.good;
  for (const { time } of anchors) {
    const x = Math.round(xOf(scale, time));
    if (x < -20 || x > scale.width + 4) continue;
    context.globalAlpha = 0.6;
    context.fillRect(x, RULER + 5, 1.5, base - RULER - 5);
    context.globalAlpha = 1;
    context.beginPath();
    context.moveTo(x, RULER + 5);
    context.lineTo(x + 15, RULER + 5);
    context.lineTo(x + 11, RULER + 11);
    context.lineTo(x + 15, RULER + 17);
    context.lineTo(x, RULER + 17);
    context.fill();
  }
}

/** Returns the anchor whose flag is under a point. */
export function pickAnchor(
  { anchors, scale }: { anchors: readonly PlacedAnchor[]; scale: Scale },
  { x, y }: Spot,
): Anchor | null {
  if (y < RULER || y > RULER + FLAGS + 4) return null;
  const isUnder = (time: Micros): boolean => x >= xOf(scale, time) - 4 && x <= xOf(scale, time) + 18;
  return anchors.filter(({ time }) => isUnder(time)).at(-1)?.anchor ?? null;
}

/** Dims the time after the playhead. */
export function paintPlayhead({ context, palette, scale, height }: Frame, head: bigint): void {
  const x = Math.max(-2, Math.min(scale.width + 2, xOf(scale, head)));
  context.fillStyle = palette.sunken;
  context.globalAlpha = 0.78;
  context.fillRect(x, RULER + 1, scale.width - x, height);
  context.globalAlpha = 1;
  context.fillStyle = palette.accent;
  context.fillRect(x - 1, RULER - 4, 2, height - RULER + 4);
}

/** Dims the time outside the selected range. */
export function paintRange({ context, palette, scale, height }: Frame, from: bigint, to: bigint): void {
  const left = Math.max(-2, Math.min(scale.width + 2, xOf(scale, from)));
  const right = Math.max(-2, Math.min(scale.width + 2, xOf(scale, to)));
  context.fillStyle = palette.sunken;
  context.globalAlpha = 0.72;
  context.fillRect(0, RULER + 1, left, height);
  context.fillRect(right, RULER + 1, scale.width - right, height);
  context.globalAlpha = 1;
  context.fillStyle = palette.accent;
  context.fillRect(left, RULER + 1, 1.5, height);
  context.fillRect(right - 1.5, RULER + 1, 1.5, height);
  context.fillRect(left, RULER - 1, right - left, 3);
}

/** Gap next to the name of the selection, and maximum width of the name. */
const [SUMMARY_GAP, SUMMARY_MAX] = [6, 220];

/** Marks a selected event without a dot: a line, or a band for its duration, with its name. */
export function paintSummary({ context, palette, scale, height }: Frame, { title, time, end }: EventSummary): void {
  if (time === null) return;
  const [from, to] = [xOf(scale, time), xOf(scale, end ?? time)];
  if (to < -1 || from > scale.width + 1) return;
  const left = Math.max(from, -4);
  const wide = Math.min(to, scale.width + 4) - left;
  context.fillStyle = palette.ink;
  if (wide > 2) {
    context.globalAlpha = 0.18;
    context.fillRect(left, RULER + 1, wide, height - RULER - 1);
    context.globalAlpha = 1;
  }
  context.fillRect(left - 1, RULER + 1, 2, height - RULER - 1);
  context.font = `600 12px ${palette.sans}`;
  context.textBaseline = 'middle';
  const isLeft = left > scale.width / 2;
  context.textAlign = isLeft ? 'right' : 'left';
  const x = Math.max(0, left) + (isLeft ? -SUMMARY_GAP : SUMMARY_GAP);
  context.strokeStyle = palette.surface;
  context.lineWidth = 6;
  context.lineJoin = 'round';
  context.strokeText(title, x, RULER + FLAGS / 2, SUMMARY_MAX);
  context.fillText(title, x, RULER + FLAGS / 2, SUMMARY_MAX);
  context.textAlign = 'left';
}

let known: { store: EventStore; id: string; rows: number[] } | null = null;

/** Cached per selection: searching all events for effects is too slow for each frame. */
export function effects(store: EventStore, id: string): number[] {
  if (known?.store !== store || known.id !== id) known = { store, id, rows: store.effectsOf(id) };
  return known.rows;
}

/** A position on the canvas. */
export interface Spot {
  x: number;
  y: number;
}

/** Draws arcs to the causes and effects of an event, and a ring around its dot. */
export function paintSelection(
  { context, palette, scale, base }: Frame,
  { x, y, isRing, isRows }: Spot & { isRing: boolean; isRows: boolean },
  causes: Spot[],
  effects: Spot[],
): void {
  context.lineWidth = 1.5;
  const near = (at: number): number => Math.max(-4_000, Math.min(scale.width + 4_000, at));
  const arc = (spot: Spot, color: string): void => {
    const [from, to] = [near(x), near(spot.x)];
    context.strokeStyle = color;
    context.beginPath();
    if (isRows) {
      // Connect the starts on the left of the bars, so that arcs do not cross them.
      const bend = Math.min(from, to) - 14;
      context.moveTo(from, y);
      context.bezierCurveTo(bend, y, bend, spot.y, to, spot.y);
    } else {
      const lift = Math.min(base - RULER - FLAGS, 18 + Math.abs(to - from) * 0.3);
      context.moveTo(from, spot.y);
      context.bezierCurveTo(from, base - lift, to, base - lift, to, spot.y);
    }
    context.stroke();
  };
  context.globalAlpha = 0.8;
  for (const cause of causes) arc(cause, palette.warn);
  for (const effect of effects) arc(effect, palette.good);
  context.globalAlpha = 1;
  if (!isRing) return;
  context.strokeStyle = palette.ink;
  context.lineWidth = 2;
  context.beginPath();
  context.arc(x, y, 7, 0, 7);
  context.stroke();
}

/** Highlights the range during a brush. */
export function paintBrush({ context, palette, height }: Frame, { from, to }: { from: number; to: number }): void {
  context.fillStyle = palette.accent;
  context.globalAlpha = 0.16;
  context.fillRect(Math.min(from, to), RULER, Math.abs(to - from), height);
  context.globalAlpha = 1;
}
