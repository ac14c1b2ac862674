/** The lane of timers under the axis: what will fire, what has, and what came of it. */
import { xOf, type Scale } from '../../lib/events/scale';
import { parse, type Micros } from '../../lib/instant';
import type { Palette } from '../../lib/palette';
import { queueOf, type Firing, type Timer } from '../../lib/timers/timers';
import { firingStanding } from '../../lib/timers/words';
import { preciseText } from '../../lib/when';
import { TIMERS_HEIGHT, type Frame } from './paint';

/**
 * `armed` is the next moment of a timer, `coming` one that a rule has after that, `fired` one whose outcome is unknown
 * here; the others are outcomes.
 */
export type MarkKind = 'armed' | 'coming' | 'fired' | 'pending' | 'acknowledged' | 'failed' | 'superseded';

export interface TimerMark {
  time: Micros;
  timerId: string;
  /** Where firings wait; null if each is recorded as an event. */
  queue: string | null;
  kind: MarkKind;
}

const OUTCOMES: readonly string[] = ['pending', 'acknowledged', 'failed', 'superseded'];

/** The lane, for an axis that came before it. */
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

/** Returns the marks of timers and firings, in their order. What is known more exactly goes before what is not. */
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

/** Which marks win where several are on one pixel. */
const ORDER: readonly MarkKind[] = ['coming', 'superseded', 'fired', 'acknowledged', 'armed', 'pending', 'failed'];

function colorOf(palette: Palette, kind: MarkKind): string {
  if (kind === 'armed' || kind === 'coming') return palette.now;
  if (kind === 'acknowledged') return palette.good;
  if (kind === 'failed') return palette.bad;
  return kind === 'pending' ? palette.warn : palette.faint;
}

/** The sign of what is recorded as an event; what waits in a queue is round. */
function diamond(context: CanvasRenderingContext2D, x: number, y: number): void {
  context.moveTo(x, y - 6);
  context.lineTo(x + 6, y);
  context.lineTo(x, y + 6);
  context.lineTo(x - 6, y);
  context.closePath();
}

/** Draws the lane at the foot of the axis. */
export function paintTimers({ context, palette, scale, height }: Frame, marks: readonly TimerMark[]): void {
  const y = height - TIMERS_HEIGHT / 2;
  context.fillStyle = palette.line;
  context.fillRect(0, height - TIMERS_HEIGHT, scale.width, 1);
  const here = new Map<number, TimerMark>();
  for (const mark of marks) {
    const x = Math.round(xOf(scale, mark.time));
    if (x < -8 || x > scale.width + 8) continue;
    const other = here.get(x);
    if (other === undefined || ORDER.indexOf(mark.kind) > ORDER.indexOf(other.kind)) here.set(x, mark);
  }
  for (const [x, { kind, queue }] of here) {
    context.fillStyle = context.strokeStyle = colorOf(palette, kind);
    if (kind === 'coming') {
      context.globalAlpha = 0.55;
      context.fillRect(x - 0.75, y - 5, 1.5, 10);
      context.globalAlpha = 1;
      continue;
    }
    context.beginPath();
    if (queue === null) diamond(context, x, y);
    else context.arc(x, y, 4.5, 0, 7);
    // What is still to come is hollow.
    if (kind === 'armed') {
      context.fillStyle = palette.surface;
      context.lineWidth = 2;
      context.fill();
      context.stroke();
    } else context.fill();
  }
}

const NEAR_PIXELS = 7;

/** Returns the mark under a point; of several the nearest, and of those the one that says most. */
export function pickTimer(
  marks: readonly TimerMark[],
  scale: Scale,
  height: number,
  { x, y }: { x: number; y: number },
): TimerMark | null {
  if (y < height - TIMERS_HEIGHT) return null;
  let best: TimerMark | null = null;
  let least = Infinity;
  for (const mark of marks) {
    const away = Math.abs(xOf(scale, mark.time) - x);
    if (away > NEAR_PIXELS) continue;
    // On one pixel, what says more is drawn on top.
    const cost = Math.round(away) - ORDER.indexOf(mark.kind) / ORDER.length;
    if (cost < least) [best, least] = [mark, cost];
  }
  return best;
}

/** Returns what a mark says. */
export function markText({ time, queue, kind }: TimerMark): string {
  const at = preciseText(time, '');
  const target = queue === null ? 'records an event' : `queue ${queue}`;
  if (kind === 'armed') return `Fires next: ${at} · ${target}`;
  if (kind === 'coming') return `Comes by its rule: ${at} · ${target}`;
  if (queue === null && kind === 'acknowledged') return `Fired: ${at} · recorded an event`;
  return `Fired: ${at}${kind === 'fired' ? '' : ` · ${firingStanding(kind).word}`} · ${target}`;
}
