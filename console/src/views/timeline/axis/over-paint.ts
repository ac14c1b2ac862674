/**
 * What is drawn over the events, or beside them: names of lanes, forks, anchors, what was searched for, what is chosen,
 * and what is left out. The first picture does without.
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
 * Draws the lines of the timelines around the one that is looked at, from where the ways parted. Where its events are
 * in lanes, forks leave it below the last, and what it was itself forked from leads to its head, above the first.
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
  // What came before the fork is the parent's history.
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

/** Returns which of some lanes, from the top, say their scale: the first one, and those that have another than it. */
export function sayScale(fromTop: readonly number[], heightsOf: LaneHeights): ReadonlySet<number> {
  const [first] = fromTop;
  return new Set(fromTop.filter((lane) => lane === first || heightsOf(lane).max !== heightsOf(first!).max));
}

/** As wide as the name of a lane may be. */
const NAME_MAX = 180;

/** Writes what each lane is above its bars, and its line below them. */
export function paintLaneNames(
  { context, palette, base, scale }: Frame,
  { groups }: Legend,
  strips: Strips,
  heights: LaneHeights | null,
  isIn: (lane: number) => boolean,
  widthOf: (name: string) => number,
): void {
  const order = strips.ys.map((_, lane) => lane).sort((a, b) => strips.ys[a]! - strips.ys[b]!);
  const labeled = heights === null ? null : sayScale(order, heights);
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
    // Beside its name there is a pin.
    if (labeled?.has(index))
      paintNumber({ context, palette, scale }, `0–${heights!(index).max.toLocaleString('en')}`, width + 57, top);
  });
}

/** Names make way for the line of now anew when it has come so far, in pixels. */
const NOW_STEP = 64;

/** Returns how far now has come, in steps; 0 where its line is far from the screen. */
export function nowStep({ now, scale }: { now: Micros | null; scale: Scale }): number {
  if (now === null || Math.abs(xOf(scale, now)) > scale.width * 2) return 0;
  return Math.round(Number(now) / scale.pixel / NOW_STEP);
}

/** As wide as what marks now, and as the curve in which a fork leaves its line, with some room beside it. */
const [NOW_WIDE, BRANCH_WIDE, GAP] = [2, 26, 3];

/** Returns where the lines of now and of forks run through what is written, in pixels from the middle. */
export function crossings(scale: Scale, lanes: readonly Lane[], now: Micros | null): Crossing[] {
  const at = (time: Micros, wide: number): Crossing => {
    const x = xOf(scale, time) - scale.width / 2;
    return [x - GAP, x + wide + GAP];
  };
  // What a fork left is above the events, and so is the line to it.
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

/** Marks the times of what was searched for. */
export function paintHits({ context, palette, scale, base }: Frame, hits: readonly Micros[]): void {
  context.fillStyle = palette.now;
  for (const time of hits) {
    const x = xOf(scale, time);
    if (x < -4 || x > scale.width + 4) continue;
    box(context, x - 1.5, base + 2, 3, 8, 1.5);
    context.fill();
  }
}

/** An anchor, and where it stands on the axis. */
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

/** Dims what was not played yet. */
export function paintPlayhead({ context, palette, scale, height }: Frame, head: bigint): void {
  const x = Math.max(-2, Math.min(scale.width + 2, xOf(scale, head)));
  context.fillStyle = palette.sunken;
  context.globalAlpha = 0.78;
  context.fillRect(x, RULER + 1, scale.width - x, height);
  context.globalAlpha = 1;
  context.fillStyle = palette.accent;
  context.fillRect(x - 1, RULER - 4, 2, height - RULER + 4);
}

/** Dims what is outside of a brushed range. */
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

/** What is on each side of the name of what is chosen, and how wide the name may be. */
const [SUMMARY_GAP, SUMMARY_MAX] = [6, 220];

/** Shows when something happens that has no dot: a line, or all the time that it lasts, with its name. */
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

/** Looking through all events for effects is done once for each selection, not for each frame. */
export function effects(store: EventStore, id: string): number[] {
  if (known?.store !== store || known.id !== id) known = { store, id, rows: store.effectsOf(id) };
  return known.rows;
}

/** A place on the screen. */
export interface Spot {
  x: number;
  y: number;
}

/** Joins an event with those it hangs on and those that hang on it, and draws a ring around it where it is a dot. */
export function paintSelection(
  { context, palette, scale, base }: Frame,
  { x, y, isRing, isRows }: Spot & { isRing: boolean; isRows: boolean },
  causes: Spot[],
  effects: Spot[],
): void {
  context.lineWidth = 1.5;
  const near = (at: number): number => Math.max(-4_000, Math.min(scale.width + 4_000, at));
  const arc = (other: Spot, color: string): void => {
    const [from, to] = [near(x), near(other.x)];
    context.strokeStyle = color;
    context.beginPath();
    if (isRows) {
      // From begin to begin, beside the bars and not through them.
      const bend = Math.min(from, to) - 14;
      context.moveTo(from, y);
      context.bezierCurveTo(bend, y, bend, other.y, to, other.y);
    } else {
      const lift = Math.min(base - RULER - FLAGS, 18 + Math.abs(to - from) * 0.3);
      context.moveTo(from, other.y);
      context.bezierCurveTo(from, base - lift, to, base - lift, to, other.y);
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

/** Marks the part that is being brushed. */
export function paintBrush({ context, palette, height }: Frame, { from, to }: { from: number; to: number }): void {
  context.fillStyle = palette.accent;
  context.globalAlpha = 0.16;
  context.fillRect(Math.min(from, to), RULER, Math.abs(to - from), height);
  context.globalAlpha = 1;
}
