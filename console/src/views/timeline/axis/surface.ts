/** Draws the axis on a canvas: caches the sheet with the events and draws the moving parts over it. */
import type { Anchor } from '../../../lib/timelines/anchors';
import type { Micros } from '../../../lib/time/instant';
import {
  laneHeights,
  maxCountIn,
  paintBars,
  paintCover,
  paintLines,
  paintTicks,
  paintUncounted,
  without,
  type LaneHeights,
} from '../../../lib/chart/bars';
import { bucketAt, type Bucket, type Counts } from '../../../lib/events/counts';
import type { Legend } from '../groups/groups';
import type { Frame, Layout, Marks, HitResult, Strips } from './picture';
import type { LaneView } from '../lanes/lane-rows';
import type { Lane } from '../lanes/lanes';
import type { TimerLane } from '../timers/timer-lane';
import { NONE, dotAt, layOut, pick } from './layout';
import type { Flashes } from '../live.svelte';
import type { EventSummary } from '../model.svelte';
import type { Range } from '../viewport.svelte';
import {
  FLAGS,
  RULER,
  TIMERS_HEIGHT,
  paintBaseLine,
  paintFuture,
  paintNow,
  paintRuler,
  paintSheet,
  paintSliding,
} from './paint';
import type * as over from './over-paint';
import { hue, ungrouped, type Palette } from '../../../lib/chart/palette';
import { timeAt, xOf, type Scale } from '../../../lib/chart/scale';
import type { EventStore } from '../../../lib/events/store';
import { ticks } from '../../../lib/chart/ticks';

const LANE = 30;
/** Distance from a lane's line to the bottom of the lane. */
const FOOT = 5;

/** Everything that a picture of the axis depends on. */
export interface Scene {
  scale: Scale;
  /** Times of the first and last event. */
  extent: Range | null;
  /** Events that are drawn individually. */
  store: EventStore;
  /** Counts for bars, if there are too many events for dots. */
  counts: Counts | null;
  isLog: boolean;
  legend: Legend | null;
  /** Counts of each legend group; null for groups that are not counted yet. */
  seriesSoFar: readonly (Counts | null)[] | null;
  /** Whether groups get colors, even before they are known. */
  isColored: boolean;
  /** Group of each row of the store. */
  groups: Uint8Array | null;
  /** Whether each group has its own lane. */
  isSplit: boolean;
  /** View of the lane rows; null until it is loaded. */
  laneView: LaneView | null;
  marks: Marks;
  flashes: Flashes;
  anchors: { anchor: Anchor; time: Micros }[];
  lanes: readonly Lane[];
  /** Overlay functions; null until they are loaded. */
  over: typeof over | null;
  timers: TimerLane | null;
  range: Range | null;
  now: Micros | null;
  /** Playback position; null without playback. */
  playhead: Micros | null;
  selected: string | null;
  /** Summary from the card of the selection; null until the card has loaded. */
  summary: EventSummary | null;
  hover: number;
  /** Times of the search hits. */
  hits: readonly Micros[];
  /** The range being brushed, in pixels. */
  brush: { from: number; to: number } | null;
}

const FLASH_MS = 1_600;

/** Whether a lane belongs to the current drawing pass. */
type IsIn = (lane: number) => boolean;

export class Surface {
  height = 0;
  /** Whether there is a timer lane at the bottom. */
  hasTimers = false;
  ratio = 1;
  palette: Palette | null = null;
  layout: Layout | null = null;
  #context: CanvasRenderingContext2D;
  #sheet = document.createElement('canvas');
  #paper: CanvasRenderingContext2D;
  /** Inputs of the current sheet, to detect changes. */
  #sheetInputs: readonly unknown[] = [];
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
    // Set the size from whole device pixels: stretching by half a pixel would blur all text.
    this.canvas.style.setProperty('width', `${this.canvas.width / this.ratio}px`);
    this.canvas.style.setProperty('height', `${this.canvas.height / this.ratio}px`);
  }

  get #floor(): number {
    return this.height - (this.hasTimers ? TIMERS_HEIGHT : 0);
  }

  /** Vertical center of the timer lane; null if there is none. */
  get timersY(): number | null {
    return this.hasTimers ? this.height - TIMERS_HEIGHT / 2 : null;
  }

  /** Number of timeline lanes above and below the events. */
  #lanes(scene: { lanes: readonly Lane[] }): { above: number; below: number } {
    const above = scene.lanes.filter((lane) => lane.isParent).length;
    return { above, below: scene.lanes.length - above };
  }

  /** Vertical extent of the events, between the lanes of other timelines. */
  #room(scene: Pick<Scene, 'lanes'>): { top: number; bottom: number } {
    const { above, below } = this.#lanes(scene);
    return { top: RULER + FLAGS + above * LANE, bottom: this.#floor - below * LANE - 6 };
  }

  /** Vertical position of the base line; with a lane per group, the line of the last lane. */
  base(scene: Scene): number {
    const { top, bottom } = this.#room(scene);
    if (hasLanes(scene)) return bottom - FOOT;
    const free = bottom + 6 - top;
    const lane = rowsOf(scene);
    if (lane !== null) return top + lane.baseBelow(scene.store);
    // Without labels, bars take the full height.
    const high = scene.store.count === 0 ? free - 12 : Math.max(40, free * 0.44);
    return Math.round(top + high);
  }

  /** Lines of the group lanes, or the single line of all events. */
  #strips(scene: Scene, base: number): Strips {
    const { top, bottom } = this.#room(scene);
    const { legend, groups, store } = scene;
    const rows = rowsOf(scene);
    if (rows !== null) return rows.strips({ store, groups, legend, top, bottom, base });
    if (!scene.isSplit || legend === null) return { ys: [0], groups: null, above: base - top, base };
    const count = legend.groups.length + (legend.others > 0 ? 1 : 0);
    const each = (bottom - top) / Math.max(count, 1);
    const places = scene.laneView?.places(legend, count);
    const place = (lane: number): number => Math.round(top + ((places?.[lane] ?? lane) + 1) * each - FOOT - base);
    const ys = Array.from({ length: count }, (_, lane) => place(lane));
    return { ys: ys.length === 0 ? [0] : ys, groups, above: each - 6, base };
  }

  /** Vertical center of a timeline lane. */
  laneY(lanes: readonly Lane[], index: number): number {
    if (lanes[index]!.isParent) return RULER + FLAGS + LANE / 2;
    const { above, below } = this.#lanes({ lanes });
    return this.#floor - (below - (index - above)) * LANE + LANE / 2;
  }

  /** Returns the events at a point. */
  pick(scene: Scene, x: number, y: number): HitResult {
    if (this.layout === null || scene.store.count === 0) return NONE;
    const middle = xOf(scene.scale, this.layout.scale.center);
    return pick(this.layout, x - middle, y - this.base(scene));
  }

  /** Whether counts are drawn as bars because dots do not fit. */
  isBars(scene: Scene): boolean {
    return scene.counts !== null && (scene.store.count === 0 || this.layout?.isDots === false);
  }

  /** Returns the bucket of the bar at a point; null if there is none. */
  bucket(scene: Scene, x: number, y: number): Bucket | null {
    if (!this.isBars(scene) || y < RULER + FLAGS || (!scene.isSplit && y > this.base(scene))) return null;
    return bucketAt(scene.counts!, timeAt(scene.scale, x));
  }

  /** Draws the scene. Returns whether an animation is running and another frame is needed. */
  paint(scene: Scene): boolean {
    const palette = this.palette;
    if (palette === null || this.height === 0) return false;
    const context = this.#context;
    const base = this.base(scene);
    this.#renew(scene, base, palette);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    context.clearRect(0, 0, scene.scale.width, this.height);
    const { scale, extent } = scene;
    const frame: Frame = { context, palette, scale, extent, height: this.height, base };
    if (scene.now !== null) paintFuture(frame, scene.now);
    paintRuler(frame, ticks(scene.scale));
    const strips = this.#strips(scene, base);
    const heights = this.#heights(frame, scene, strips);
    const within = (draw: (isIn: IsIn) => void): void =>
      strips.rows ? strips.rows.clip(context, draw) : draw(() => true);
    within((isIn) => {
      if (heights !== null)
        strips.ys.forEach((y, i) => isIn(i) && paintLines(frame, heights(i), base + y, strips.above - 8));
    });
    // Group lanes draw their own lines.
    if (!hasLanes(scene)) paintBaseLine(frame, scene.lanes);
    const head = hasLanes(scene) ? this.#room(scene).top : null;
    scene.over?.paintForks(frame, scene.lanes, (index) => this.laneY(scene.lanes, index), head);
    within((isIn) => {
      if (heights !== null) this.#paintCounts(frame, scene, strips, heights, isIn);
      else if (this.isBars(scene))
        paintUncounted(frame, scene.counts!, base + Math.max(...strips.ys), strips.above - 8);
    });
    // Draw the now line below the text, so that it does not cross words.
    if (scene.now !== null) paintNow(frame, scene.now);
    if (this.hasTimers) scene.timers?.paint(frame);
    if (scene.store.count > 0) this.#paintSheet(frame);
    within((isIn) => this.#paintNames(frame, scene, strips, isIn));
    if (scene.range !== null) scene.over?.paintRange(frame, scene.range.from, scene.range.to);
    if (scene.playhead !== null) scene.over?.paintPlayhead(frame, scene.playhead);
    scene.over?.paintHits(frame, scene.hits);
    const fades = this.#paintFlashes(frame, scene);
    this.#paintChosen(frame, scene);
    scene.over?.paintAnchors(frame, scene.anchors);
    if (scene.brush !== null) scene.over?.paintBrush(frame, scene.brush);
    return fades;
  }

  /** Redraws the sheet if its inputs have changed. */
  #renew(scene: Scene, base: number, palette: Palette): void {
    const { scale, store, marks, selected, groups, isSplit, legend } = scene;
    const sheetInputs = [
      store,
      marks,
      selected,
      groups,
      isSplit,
      scene.laneView,
      legend,
      palette,
      this.height,
      scene.lanes,
      scene.isColored,
      scene.over?.nowStep(scene),
      this.hasTimers,
      this.ratio,
    ];
    const isSame =
      this.layout !== null &&
      this.layout.scale.width === scale.width &&
      sheetInputs.every((part, index) => part === this.#sheetInputs[index]);
    const isScale = this.layout?.scale.pixel === scale.pixel;
    if (isSame && isScale) {
      const shift = xOf(scale, this.layout!.scale.center) - scale.width / 2;
      if (this.layout!.from + shift <= -scale.width / 2 && this.layout!.to + shift >= scale.width / 2) return;
    }
    // After a zoom, expect another one and keep the margin small. While panning, leave room on both sides.
    const margin = isScale ? Math.round(scale.width * 0.6) : 80;
    this.layout = layOut({
      store,
      scale,
      margin,
      selected: selected === null ? -1 : store.row(selected),
      strips: this.#strips(scene, base),
      below: isSplit ? 0 : this.#floor - base - this.#lanes(scene).below * LANE - 6,
      measure: (text) => this.#measure(text, palette),
      crossings: scene.over?.crossings(scale, scene.lanes, scene.now),
    });
    this.#sheetInputs = sheetInputs;
    this.#sheet.width = Math.ceil((this.layout.to - this.layout.from) * this.ratio);
    this.#sheet.height = Math.round(this.height * this.ratio);
    this.#paper.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    const count = legend?.groups.length ?? 0;
    const colors = (row: number): string =>
      groups === null ? ungrouped(palette, scene.isColored) : hue(palette, groups[row] ?? count, count);
    const drawn = { layout: this.layout, store, palette, marks, colors };
    const { rows } = this.layout;
    if (rows === null) paintSheet(this.#paper, drawn, base);
    else
      rows.rows.clip(this.#paper, (isIn) =>
        paintSheet(this.#paper, { ...drawn, isIn: (row) => isIn(rows.rows.laneOf(row)) }, base),
      );
  }

  /** Scales of the bars; null if every event has a dot. */
  #heights(frame: Frame, scene: Scene, { above }: Strips): LaneHeights | null {
    if (!this.isBars(scene) || scene.counts!.count === 0) return null;
    const most = this.#bars(scene).map(({ counts }) => (counts === null ? 0 : maxCountIn(counts, frame)));
    const rest = most.length > (scene.seriesSoFar?.length ?? 1) ? most.pop()! : null;
    return laneHeights(most, rest, scene.isLog, above - 8);
  }

  /** Whether each group has its own bars, including while they are being counted. */
  #isSplit({ isSplit, legend, seriesSoFar }: Scene): boolean {
    return isSplit && legend !== null && seriesSoFar !== null;
  }

  /** Counts of each lane, null until counted; a single entry without lanes. */
  #bars(scene: Scene): readonly { counts: Counts | null; index: number }[] {
    const { counts, seriesSoFar, legend } = scene;
    if (!this.#isSplit(scene)) return [{ counts, index: -1 }];
    const all = legend!.others > 0 ? [...seriesSoFar!, this.#rest(counts!, seriesSoFar!)] : seriesSoFar!;
    return all.map((own, index) => ({ counts: own, index }));
  }

  #known: { counts: Counts; series: readonly unknown[]; rest: Counts | null } | null = null;

  /** Counts of events outside all groups; null until all groups are counted. */
  #rest(counts: Counts, series: readonly (Counts | null)[]): Counts | null {
    if (this.#known?.counts !== counts || this.#known.series !== series) {
      const parts = series.filter((own) => own !== null);
      this.#known = { counts, series, rest: parts.length < series.length ? null : without(counts, parts) };
    }
    return this.#known.rest;
  }

  #paintCounts(frame: Frame, scene: Scene, strips: Strips, heights: LaneHeights, isIn: IsIn): void {
    const { palette, base } = frame;
    const { counts, legend } = scene;
    const room = strips.above - 8;
    const groups = legend?.groups.length ?? 0;
    if (this.#isSplit(scene)) {
      for (const { counts: own, index } of this.#bars(scene).filter((candidate) => isIn(candidate.index))) {
        const y = base + strips.ys[index]!;
        if (own === null) paintCover(frame, counts!.from, counts!.to, y, room);
        else paintBars(frame, own, [], hue(palette, index, groups), heights(index), y, room);
      }
      return;
    }
    const scale = heights(0);
    // Parts of a logarithmic bar have no meaning: use one color.
    const soFar = legend === null || scale.isLog ? [] : (scene.seriesSoFar ?? []);
    const parts = soFar.flatMap((own, index) =>
      own === null ? [] : [{ color: hue(palette, index, groups), counts: own }],
    );
    const rest = ungrouped(palette, scene.isColored);
    paintBars(frame, counts!, parts, rest, scale, base + strips.ys.at(-1)!, room);
  }

  /** Draws the scale and lane labels above the bars. */
  #paintNames(frame: Frame, scene: Scene, strips: Strips, isIn: IsIn): void {
    const { base } = frame;
    const heights = this.#heights(frame, scene, strips);
    if (!hasLanes(scene)) {
      if (heights !== null)
        strips.ys.forEach((y, i) => isIn(i) && paintTicks(frame, heights(i), base + y, strips.above - 8));
      return;
    }
    const widthOf = (name: string): number => this.#measure(name, frame.palette);
    scene.over?.paintLaneNames(frame, scene.legend, strips, heights, isIn, widthOf);
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

  #paintSheet(frame: Frame): void {
    if (this.layout === null || this.#sheet.width === 0) return;
    const { context, scale } = frame;
    // Align to device pixels to keep text sharp.
    const left = Math.round((xOf(scale, this.layout.scale.center) + this.layout.from) * this.ratio);
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(this.#sheet, left, 0);
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    paintSliding(frame, this.layout, left / this.ratio);
  }

  /** Outlines the bar of an event in a lane row; returns false for a dot. */
  #outline(frame: Frame, row: number, color: string): boolean {
    const { layout } = this;
    if (layout?.rows?.has(row) !== true) return false;
    layout.rows.outline(frame, row, xOf(frame.scale, layout.scale.center), color);
    return true;
  }

  /** Position of an event's dot on the canvas. */
  #dot({ scale, base }: Frame, store: EventStore, row: number): { x: number; y: number } {
    if (this.layout === null) return { x: xOf(scale, store.time(row)), y: base };
    const { x, y } = dotAt(this.layout, store, row);
    return { x: xOf(scale, this.layout.scale.center) + x, y: base + y };
  }

  #paintFlashes(frame: Frame, { store, flashes }: Scene): boolean {
    const { context, palette } = frame;
    const now = performance.now();
    let isGoing = false;
    for (const [id, { since, time }] of flashes) {
      const age = (now - since) / FLASH_MS;
      if (age >= 1) continue;
      isGoing = true;
      const row = store.row(id);
      // Without a dot, flash at the time of the event.
      const { x, y } = row < 0 ? { x: xOf(frame.scale, time), y: frame.base - 3 } : this.#dot(frame, store, row);
      context.globalAlpha = 1 - age;
      ring(context, x, y, 6 + age * 22, 2, palette.now);
    }
    context.globalAlpha = 1;
    return isGoing;
  }

  #paintChosen(frame: Frame, scene: Scene): void {
    const { store } = scene;
    if (scene.hover >= 0 && scene.hover < store.count && !this.#outline(frame, scene.hover, frame.palette.muted)) {
      const { x, y } = this.#dot(frame, store, scene.hover);
      ring(frame.context, x, y, 6.5, 1.5, frame.palette.muted);
    }
    const row = scene.selected === null ? -1 : store.row(scene.selected);
    // An event that is only counted has no dot.
    if (row < 0 && scene.summary !== null) scene.over?.paintSummary(frame, scene.summary);
    if (scene.selected === null || row < 0) return;
    const isRing = !this.#outline(frame, row, frame.palette.ink);
    const isRows = hasLanes(scene) || (this.layout?.rows ?? null) !== null;
    const spots = (rows: number[]): over.Spot[] =>
      rows
        .filter((found) => found >= 0)
        .slice(0, 60)
        .map((found) =>
          isRows ? this.#dot(frame, store, found) : { x: xOf(frame.scale, store.time(found)), y: frame.base - 4 },
        );
    const causes = (store.causes[row] ?? []).map((cause) => store.row(cause.event_id));
    const chosen = { ...this.#dot(frame, store, row), isRing, isRows };
    scene.over?.paintSelection(frame, chosen, spots(causes), spots(scene.over.effects(store, scene.selected)));
  }
}

/** Whether each group has its own lane instead of the shared base line. */
function hasLanes<T extends Pick<Scene, 'isSplit' | 'legend'>>(scene: T): scene is T & { legend: Legend } {
  return scene.isSplit && scene.legend !== null;
}

/** View of the lane rows; null without lanes or without events that have a duration. */
function rowsOf({ isSplit, laneView, store }: Scene): LaneView | null {
  return isSplit && store.longestMicros > 0 ? laneView : null;
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
