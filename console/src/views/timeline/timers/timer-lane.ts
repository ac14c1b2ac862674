/** The timer lane below the axis: upcoming and past firings and their outcomes. */
import { xOf, type Scale } from '../../../lib/chart/scale';
import { parse, type Micros } from '../../../lib/time/instant';
import type { Palette } from '../../../lib/chart/palette';
import { queueOf, type Firing, type Timer } from '../../../lib/timers/timers';
import { firingStatus } from '../../../lib/timers/words';
import { preciseText } from '../../../lib/time/when';
import type { Frame } from '../axis/picture';
import { TIMERS_HEIGHT, box } from '../axis/paint';

/**
 * `armed` is the next firing of a timer, `coming` a later firing of its rule, and `fired` one whose outcome is unknown
 * here; the others are outcomes.
 */
type MarkKind = 'armed' | 'coming' | 'fired' | 'pending' | 'acknowledged' | 'failed' | 'superseded';

export interface TimerMark {
  time: Micros;
  timerId: string;
  /** Queue of the firings; null if each is recorded as an event. */
  queue: string | null;
  kind: MarkKind;
}

const OUTCOMES: readonly string[] = ['pending', 'acknowledged', 'failed', 'superseded'];

/** The lane as an object that is handed to the axis, which loads before it. */
export class TimerLane {
  constructor(readonly marks: readonly TimerMark[]) {}

  paint(frame: Frame): void {
    paintTimers(frame, this.marks);
  }

  pick(scale: Scale, height: number, point: { x: number; y: number }): TimerMark | null {
    return pickTimer(this.marks, scale, height, point);
  }

  text(mark: TimerMark): string {
    return markText(mark);
  }
}

/**
 * Returns the marks of timers and firings in time order. Of marks with the same timer and time, the most specific is
 * kept.
 */
export function marksOf(
  armed: readonly Timer[],
  done: readonly Timer[],
  firings: readonly Firing[],
  coming: readonly { timer_id: string; due: string; queue?: string | null }[],
): TimerMark[] {
  const found = new Map<string, TimerMark>();
  type Queue = string | null | undefined;
  const add = (time: string | null | undefined, timerId: string, of: Queue, kind: MarkKind): void => {
    const at = parse(time ?? '');
    if (at === null) return;
    const key = `${at} ${timerId}`;
    if (!found.has(key)) found.set(key, { time: at, timerId, queue: of ?? null, kind });
  };
  for (const { due, timer_id, queue, state } of firings)
    add(due, timer_id, queue, OUTCOMES.includes(state) ? (state as MarkKind) : 'fired');
  for (const { next, timer_id, deliver } of armed) add(next, timer_id, queueOf(deliver), 'armed');
  for (const { at, timer_id, deliver } of done) add(at, timer_id, queueOf(deliver), 'fired');
  for (const { due, timer_id, queue } of coming) add(due, timer_id, queue, 'coming');
  return [...found.values()].sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0));
}

/** Precedence of marks that share a symbol, in ascending order. */
const ORDER: readonly MarkKind[] = ['coming', 'superseded', 'fired', 'acknowledged', 'armed', 'pending', 'failed'];

function colorOf(palette: Palette, kind: MarkKind): string {
  if (kind === 'armed' || kind === 'coming') return palette.now;
  if (kind === 'acknowledged') return palette.good;
  if (kind === 'failed') return palette.bad;
  return kind === 'pending' ? palette.warn : palette.faint;
}

/** A symbol for one or more overlapping marks, in the color of the most important one. */
interface TimerSymbol {
  /** Horizontal center, and half the width, in pixels. */
  x: number;
  half: number;
  mark: TimerMark;
  count: number;
  /** Whether all marks are recorded as events. */
  isDiamond: boolean;
}

/** Half widths of a symbol: for a single mark, for a count in a round or diamond symbol, and per additional digit. */
const [HALF, ROUND_HALF, DIAMOND_HALF, DIGIT] = [6, 9, 11, 3];

function halfOf(count: number, isDiamond: boolean): number {
  if (count === 1) return HALF;
  return (isDiamond ? DIAMOND_HALF : ROUND_HALF) + DIGIT * (String(count).length - 1);
}

/** Returns the symbols from left to right, without overlaps. Excludes scheduled firings of rules. */
export function symbolsOf(marks: readonly TimerMark[], scale: Scale): TimerSymbol[] {
  const symbols: (TimerSymbol & { from: number; to: number })[] = [];
  for (const mark of marks) {
    if (mark.kind === 'coming') continue;
    const x = xOf(scale, mark.time);
    let symbol = { x, half: HALF, mark, count: 1, isDiamond: mark.queue === null, from: x, to: x };
    for (
      let before = symbols.at(-1);
      before && before.x + before.half > symbol.x - symbol.half;
      before = symbols.at(-1)
    ) {
      symbols.pop();
      const count = before.count + symbol.count;
      const isDiamond = before.isDiamond && symbol.isDiamond;
      const isBefore = ORDER.indexOf(before.mark.kind) >= ORDER.indexOf(symbol.mark.kind);
      symbol = {
        x: (before.from + symbol.to) / 2,
        half: halfOf(count, isDiamond),
        mark: isBefore ? before.mark : symbol.mark,
        count,
        isDiamond,
        from: before.from,
        to: symbol.to,
      };
    }
    symbols.push(symbol);
  }
  return symbols;
}

/** A diamond for firings recorded as events; a round shape for firings in a queue. */
function outline(
  context: CanvasRenderingContext2D,
  { half, isDiamond, count }: TimerSymbol,
  x: number,
  y: number,
): void {
  context.beginPath();
  if (isDiamond) {
    const reach = count === 1 ? half : half - 1;
    context.moveTo(x, y - reach);
    context.lineTo(x + reach, y);
    context.lineTo(x, y + reach);
    context.lineTo(x - reach, y);
    context.closePath();
  } else if (count === 1) context.arc(x, y, 4.5, 0, 7);
  else box(context, x - half + 1, y - ROUND_HALF + 1, 2 * half - 2, 2 * ROUND_HALF - 2, ROUND_HALF);
}

/** Draws the lane at the bottom of the axis. */
function paintTimers({ context, palette, scale, height }: Frame, marks: readonly TimerMark[]): void {
  const y = height - TIMERS_HEIGHT / 2;
  context.fillStyle = palette.line;
  context.fillRect(0, height - TIMERS_HEIGHT, scale.width, 1);
  const isIn = (x: number): boolean => x > -20 && x < scale.width + 20;
  context.fillStyle = colorOf(palette, 'coming');
  context.globalAlpha = 0.55;
  const coming = new Set(marks.filter(({ kind }) => kind === 'coming').map(({ time }) => Math.round(xOf(scale, time))));
  for (const x of coming) if (isIn(x)) context.fillRect(x - 0.75, y - 5, 1.5, 10);
  context.globalAlpha = 1;
  context.font = `650 10px ${palette.sans}`;
  context.textBaseline = 'middle';
  context.textAlign = 'center';
  for (const symbol of symbolsOf(marks, scale)) {
    const x = Math.round(symbol.x);
    if (!isIn(x)) continue;
    const color = colorOf(palette, symbol.mark.kind);
    // Upcoming firings are hollow.
    const isHollow = symbol.mark.kind === 'armed';
    context.fillStyle = isHollow ? palette.surface : color;
    context.strokeStyle = color;
    context.lineWidth = 2;
    outline(context, symbol, x, y);
    context.fill();
    if (isHollow) context.stroke();
    context.fillStyle = isHollow ? color : palette.surface;
    if (symbol.count > 1) context.fillText(String(symbol.count), x, y + 0.5);
  }
  context.textAlign = 'left';
}

const NEAR_PIXELS = 7;

/** Returns the mark at a point, the most important of its symbol, and the number of marks in the symbol. */
export function pickTimer(
  marks: readonly TimerMark[],
  scale: Scale,
  height: number,
  { x, y }: { x: number; y: number },
): (TimerMark & { count: number }) | null {
  if (y < height - TIMERS_HEIGHT) return null;
  const coming = marks
    .filter(({ kind }) => kind === 'coming')
    .map((mark) => ({ mark, count: 1, distance: Math.abs(xOf(scale, mark.time) - x), half: 0 }));
  const symbols = symbolsOf(marks, scale).map((symbol) => ({ ...symbol, distance: Math.abs(symbol.x - x) }));
  // Symbols are drawn above scheduled firings.
  const found = [...symbols, ...coming].filter(({ distance, half }) => distance <= Math.max(half, NEAR_PIXELS));
  const best = found.sort((a, b) => Math.max(0, a.distance - a.half) - Math.max(0, b.distance - b.half))[0];
  return best === undefined ? null : { ...best.mark, count: best.count };
}

/** Describes a mark, and how many more share its symbol. */
export function markText(mark: TimerMark & { count?: number }): string {
  const more = (mark.count ?? 1) - 1;
  return more > 0 ? `${markSentence(mark)} · and ${more.toLocaleString('en')} more here` : markSentence(mark);
}

function markSentence({ time, queue, kind }: TimerMark): string {
  const at = preciseText(time, '');
  const target = queue === null ? 'records an event' : `queue ${queue}`;
  if (kind === 'armed') return `Fires next: ${at} · ${target}`;
  if (kind === 'coming') return `Scheduled: ${at} · ${target}`;
  if (queue === null && kind === 'acknowledged') return `Fired: ${at} · recorded an event`;
  return `Fired: ${at}${kind === 'fired' ? '' : ` · ${firingStatus(kind).word}`} · ${target}`;
}
