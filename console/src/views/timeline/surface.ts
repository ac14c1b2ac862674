/** The axis as a picture on a canvas: keeps the sheet that events are drawn on, and draws what moves above it. */
import type { Anchor } from '../../lib/anchors';
import type { Micros } from '../../lib/instant';
import type { Density } from './density';
import type { Lane } from './lanes';
import { dotAt, layOut, pick, type Layout } from './layout';
import type { Range } from './model.svelte';
import {
  FLAGS,
  RULER,
  box,
  paintFuture,
  paintNow,
  paintRange,
  paintRuler,
  paintSelection,
  paintSheet,
  type Frame,
  type Marks,
} from './paint';
import type { Palette } from './palette';
import { xOf, type Scale } from './scale';
import type { EventStore } from './store';
import { ticks } from './ticks';

const LANE = 30;

/** What a picture is made of. */
export interface Scene {
  scale: Scale;
  store: EventStore;
  density: Density | null;
  marks: Marks;
  flashes: ReadonlyMap<string, number>;
  anchors: { anchor: Anchor; time: Micros }[];
  lanes: readonly Lane[];
  range: Range | null;
  now: Micros | null;
  selected: string | null;
  hover: number;
  hits: readonly number[];
  /** The part that is being brushed, in pixels. */
  brush: { from: number; to: number } | null;
}

const FLASH_MS = 1_600;

export class Surface {
  height = 0;
  ratio = 1;
  palette: Palette | null = null;
  layout: Layout | null = null;
  #context: CanvasRenderingContext2D;
  #sheet = document.createElement('canvas');
  #paper: CanvasRenderingContext2D;
  #made: {
    store: EventStore;
    marks: Marks;
    selected: string | null;
    palette: Palette;
    height: number;
    lanes: number;
    ratio: number;
  } | null = null;
  #widths = new Map<string, number>();

  constructor(private readonly canvas: HTMLCanvasElement) {
    this.#context = canvas.getContext('2d')!;
    this.#paper = this.#sheet.getContext('2d')!;
  }

  resize(width: number, height: number): void {
    this.ratio = Math.min(devicePixelRatio || 1, 2);
    this.height = height;
    this.canvas.width = Math.round(width * this.ratio);
    this.canvas.height = Math.round(height * this.ratio);
    // Stretched by half a pixel, all letters would blur.
    this.canvas.style.setProperty('width', `${this.canvas.width / this.ratio}px`);
    this.canvas.style.setProperty('height', `${this.canvas.height / this.ratio}px`);
  }

  /** How many lanes there are above and below the events. */
  #lanes(scene: { lanes: readonly Lane[] }): { above: number; below: number } {
    const above = scene.lanes.filter((lane) => lane.isParent).length;
    return { above, below: scene.lanes.length - above };
  }

  /** Where the line is that events stand on. */
  base(lanes: readonly Lane[]): number {
    const { above, below } = this.#lanes({ lanes });
    const free = this.height - RULER - FLAGS - (above + below) * LANE;
    return Math.round(RULER + FLAGS + above * LANE + Math.max(40, free * 0.44));
  }

  /** Where the middle of a lane is. */
  laneY(lanes: readonly Lane[], index: number): number {
    if (lanes[index]!.isParent) return RULER + FLAGS + LANE / 2;
    const { above, below } = this.#lanes({ lanes });
    return this.height - (below - (index - above)) * LANE + LANE / 2;
  }

  /** Returns the row under a point, or −1. */
  pick(scene: Scene, x: number, y: number): number {
    if (this.layout === null) return -1;
    const middle = xOf(scene.scale, this.layout.scale.center);
    return pick(this.layout, scene.store, x - middle, y - this.base(scene.lanes));
  }

  /** Returns how many events the bar under a point stands for; 0 where there is no bar. */
  barCount(scene: Scene, x: number): number {
    if (this.layout === null) return 0;
    const bin = Math.floor((x - xOf(scene.scale, this.layout.scale.center) - this.layout.binX) / this.layout.binWidth);
    const count = this.layout.counts[bin] ?? 0;
    return count > this.layout.dotsMax ? count : 0;
  }

  /** Returns the anchor whose flag is under a point. */
  pickAnchor(scene: Scene, x: number, y: number): Anchor | null {
    if (y < RULER || y > RULER + FLAGS + 4) return null;
    let found: Anchor | null = null;
    for (const { anchor, time } of scene.anchors) {
      const at = xOf(scene.scale, time);
      if (x >= at - 4 && x <= at + 18) found = anchor;
    }
    return found;
  }

  /** Draws; returns whether something still fades, so that the next frame has to be drawn too. */
  paint(scene: Scene): boolean {
    const palette = this.palette;
    if (palette === null || this.height === 0) return false;
    const context = this.#context;
    const base = this.base(scene.lanes);
    this.#renew(scene, base, palette);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, scene.scale.width, this.height);
    const frame: Frame = { context, palette, scale: scene.scale, height: this.height, base };
    if (scene.now !== null) paintFuture(frame, scene.now);
    paintRuler(frame, ticks(scene.scale));
    this.#paintLanes(frame, scene);
    if (scene.density !== null && scene.store.count === 0) paintDensity(frame, scene.density);
    this.#paintSheet(scene);
    if (scene.now !== null) paintNow(frame, scene.now);
    if (scene.range !== null) paintRange(frame, scene.range.from, scene.range.to);
    paintHits(frame, scene);
    const fades = this.#paintFlashes(frame, scene);
    this.#paintChosen(frame, scene);
    paintAnchors(frame, scene);
    if (scene.brush !== null) {
      context.fillStyle = palette.accent;
      context.globalAlpha = 0.16;
      context.fillRect(
        Math.min(scene.brush.from, scene.brush.to),
        RULER,
        Math.abs(scene.brush.to - scene.brush.from),
        this.height,
      );
      context.globalAlpha = 1;
    }
    return fades;
  }

  /** Makes the sheet anew where it no longer shows what it should. */
  #renew(scene: Scene, base: number, palette: Palette): void {
    const { scale, store, marks, selected } = scene;
    const made = this.#made;
    const isSame =
      made !== null &&
      this.layout !== null &&
      made.store === store &&
      made.marks === marks &&
      made.selected === selected &&
      made.palette === palette &&
      made.height === this.height &&
      made.lanes === scene.lanes.length &&
      made.ratio === this.ratio &&
      this.layout.scale.width === scale.width;
    const isScale = this.layout?.scale.pixel === scale.pixel;
    if (isSame && isScale) {
      const shift = xOf(scale, this.layout!.scale.center) - scale.width / 2;
      if (this.layout!.from + shift <= -scale.width / 2 && this.layout!.to + shift >= scale.width / 2) return;
    }
    // A zoom is followed by another; a drag goes on: it gets room on both sides.
    const margin = isScale ? Math.round(scale.width * 0.6) : 80;
    this.layout = layOut({
      store,
      scale,
      margin,
      selected: selected === null ? -1 : store.row(selected),
      above: base - RULER - FLAGS - scene.lanes.filter((lane) => lane.isParent).length * LANE,
      below: this.height - base - scene.lanes.filter((lane) => !lane.isParent).length * LANE - 6,
      measure: (text) => this.#measure(text, palette),
    });
    this.#made = { store, marks, selected, palette, height: this.height, lanes: scene.lanes.length, ratio: this.ratio };
    this.#sheet.width = Math.ceil((this.layout.to - this.layout.from) * this.ratio);
    this.#sheet.height = Math.round(this.height * this.ratio);
    this.#paper.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    paintSheet(this.#paper, this.layout, store, palette, base, marks);
  }

  #measure(text: string, palette: Palette): number {
    const known = this.#widths.get(text);
    if (known !== undefined) return known;
    this.#paper.font = `500 12.5px ${palette.sans}`;
    const width = this.#paper.measureText(text).width;
    if (this.#widths.size > 20_000) this.#widths.clear();
    this.#widths.set(text, width);
    return width;
  }

  #paintSheet(scene: Scene): void {
    if (this.layout === null || this.#sheet.width === 0) return;
    const left = xOf(scene.scale, this.layout.scale.center) + this.layout.from;
    const context = this.#context;
    context.setTransform(1, 0, 0, 1, 0, 0);
    // Whole pixels of the screen: letters stay sharp.
    context.drawImage(this.#sheet, Math.round(left * this.ratio), 0);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
  }

  /** Where the dot of an event is on the screen. */
  #dot({ scale, base }: Frame, store: EventStore, row: number): { x: number; y: number } {
    if (this.layout === null) return { x: xOf(scale, store.time(row)), y: base };
    const { x, y } = dotAt(this.layout, store, row);
    return { x: xOf(scale, this.layout.scale.center) + x, y: base + y };
  }

  #paintFlashes(frame: Frame, { store, flashes }: Scene): boolean {
    const { context, palette } = frame;
    const now = performance.now();
    let isGoing = false;
    for (const [id, since] of flashes) {
      const age = (now - since) / FLASH_MS;
      const row = age >= 1 ? -1 : store.row(id);
      if (row < 0) continue;
      isGoing = true;
      const { x, y } = this.#dot(frame, store, row);
      context.globalAlpha = 1 - age;
      ring(context, x, y, 6 + age * 22, 2, palette.now);
    }
    context.globalAlpha = 1;
    return isGoing;
  }

  #paintChosen(frame: Frame, scene: Scene): void {
    const { store } = scene;
    if (scene.hover >= 0 && scene.hover < store.count) {
      const { x, y } = this.#dot(frame, store, scene.hover);
      ring(frame.context, x, y, 6.5, 1.5, frame.palette.muted);
    }
    const row = scene.selected === null ? -1 : store.row(scene.selected);
    if (scene.selected === null || row < 0) return;
    const times = (rows: number[]): Micros[] =>
      rows
        .filter((found) => found >= 0)
        .slice(0, 60)
        .map((found) => store.time(found));
    const causes = (store.causes[row] ?? []).map((cause) => store.row(cause.event_id));
    paintSelection(frame, this.#dot(frame, store, row), times(causes), times(effects(store, scene.selected)));
  }

  #paintLanes(frame: Frame, scene: Scene): void {
    const { context, palette, scale, base } = frame;
    const parent = scene.lanes.find((lane) => lane.isParent);
    const began = parent?.at === undefined || parent.at === null ? -Infinity : xOf(scale, parent.at);
    context.lineWidth = 2;
    context.strokeStyle = palette['line-strong'];
    line(context, Math.max(began, 0), scale.width, base + 0.5, []);
    // What came before the fork is the parent's history.
    if (began > 0 && parent) line(context, 0, Math.min(began, scale.width), base + 0.5, [2, 5]);
    scene.lanes.forEach((lane, index) => {
      const y = this.laneY(scene.lanes, index);
      const at = lane.at === null ? 0 : Math.max(-60, Math.min(scale.width + 60, xOf(scale, lane.at)));
      context.strokeStyle = lane.isParent ? palette.muted : palette.good;
      context.globalAlpha = 0.75;
      if (lane.isParent) {
        line(context, 0, scale.width, y, []);
        branch(context, at, y, base);
      } else {
        branch(context, at, base, y);
        line(context, Math.min(at + 26, scale.width), scale.width, y, []);
      }
      context.globalAlpha = 1;
    });
  }
}

function line(context: CanvasRenderingContext2D, from: number, to: number, y: number, dash: number[]): void {
  context.setLineDash(dash);
  context.beginPath();
  context.moveTo(from, y);
  context.lineTo(to, y);
  context.stroke();
  context.setLineDash([]);
}

function ring(
  context: CanvasRenderingContext2D,
  x: number,
  y: number,
  radius: number,
  width: number,
  color: string,
): void {
  context.strokeStyle = color;
  context.lineWidth = width;
  context.beginPath();
  context.arc(x, y, radius, 0, 7);
  context.stroke();
}

function branch(context: CanvasRenderingContext2D, x: number, from: number, to: number): void {
  context.beginPath();
  context.moveTo(x, from);
  context.bezierCurveTo(x + 14, from, x + 10, to, x + 26, to);
  context.stroke();
  context.beginPath();
  context.arc(x, from, 3, 0, 7);
  context.fillStyle = context.strokeStyle;
  context.fill();
}

function paintDensity({ context, palette, scale, base }: Frame, density: Density): void {
  const room = base - RULER - FLAGS - 12;
  // Buckets are of different length: what counts is how many events there are in a pixel.
  const bars = density.buckets.map((bucket) => {
    const x = xOf(scale, bucket.from);
    const width = Math.max(1, xOf(scale, bucket.to) - x);
    return { x, width, height: bucket.count / width };
  });
  const most = Math.max(...bars.map((bar) => bar.height), 1e-9);
  context.fillStyle = palette.accent;
  context.globalAlpha = 0.7;
  for (const { x, width, height } of bars) {
    if (x > scale.width || x + width < 0) continue;
    const tall = Math.max(2, Math.sqrt(height / most) * room);
    context.fillRect(x, base - tall, Math.max(width - 1, 1), tall);
  }
  context.globalAlpha = 1;
}

function paintHits({ context, palette, scale, base }: Frame, scene: Scene): void {
  context.fillStyle = palette.now;
  for (const row of scene.hits) {
    if (row >= scene.store.count) continue;
    const x = xOf(scale, scene.store.time(row));
    if (x < -4 || x > scale.width + 4) continue;
    box(context, x - 1.5, base + 2, 3, 8, 1.5);
    context.fill();
  }
}

let known: { store: EventStore; id: string; rows: number[] } | null = null;

/** Looking through all events for effects is done once for each selection, not for each frame. */
function effects(store: EventStore, id: string): number[] {
  if (known?.store !== store || known.id !== id) known = { store, id, rows: store.effectsOf(id) };
  return known.rows;
}

function paintAnchors({ context, palette, scale, base }: Frame, scene: Scene): void {
  context.fillStyle = palette.good;
  for (const { time } of scene.anchors) {
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
