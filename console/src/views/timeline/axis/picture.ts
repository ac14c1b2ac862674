/**
 * Types of the axis picture: the frame, the event layout and the lane rows. The modules that import this one compute
 * and draw them.
 */
import type { Scale } from '../../../lib/chart/scale';
import type { EventStore } from '../../../lib/events/store';
import type { Palette } from '../../../lib/chart/palette';
import type { Legend } from '../groups/groups';
import type { Range } from '../viewport.svelte';

/** The drawing target and the visible time range. */
export interface Frame {
  context: CanvasRenderingContext2D;
  palette: Palette;
  scale: Scale;
  /** Times of the first and last event. */
  extent: Range | null;
  height: number;
  /** Vertical position of the base line. */
  base: number;
}

/** Content of the event sheet. */
export interface SheetScene {
  layout: Layout;
  store: EventStore;
  palette: Palette;
  marks: Marks;
  /** Returns the color of each row; all rows have the same color without grouping. */
  colors: Colors;
  /** Whether to draw a row, for lanes that are drawn in parts. */
  isIn?: (row: number) => boolean;
}

type Colors = (row: number) => string;

/** Markers of an event: it has interventions, or it is part of a paradox. */
export interface Mark {
  isTouched: boolean;
  isParadox: boolean;
}
export type Marks = ReadonlyMap<string, Mark>;

/** A label, the bar of an event with a duration, or both. */
export interface Label {
  row: number;
  x: number;
  width: number;
  /** Length of the bar in pixels; 0 for an event without duration. */
  bar: number;
  line: number;
  /** How far the text can move to the right inside its bar to stay in view. */
  slack: number;
  /** Whether the label is on the left of its time because the right edge would cut it. */
  isLeft: boolean;
  text: string;
}

export interface Layout {
  scale: Scale;
  /** Horizontal extent, in pixels from the center. */
  from: number;
  to: number;
  /** Visible rows, `[first, last)`. */
  first: number;
  last: number;
  /** Whether every event has a dot. If the stacks would be too high, bars are drawn instead. */
  isDots: boolean;
  /** Dot positions of the visible rows, relative to the center and the base line. */
  xs: Float32Array;
  ys: Float32Array;
  /** Stack of each visible row. */
  columns: Int32Array;
  labels: Label[];
  /** Events with a duration but no label, drawn as thin bars. */
  thin: { row: number; x: number; y: number; bar: number }[];
  strips: Strips;
  /** Events with a duration in lane rows; null if there are none and these events are among the labels. */
  rows: PlacedRows | null;
}

/** Base lines of the events: one, or one per group. */
export interface Strips {
  /** Offsets below the base line. */
  ys: readonly number[];
  /** Base line of each event; null without groups. */
  groups: Uint8Array | null;
  /** Height for dots above each line. */
  above: number;
  /** Base line, in pixels from the top of the axis. */
  base: number;
  /** Lane rows for events with a duration, if any. */
  rows?: LaneRows;
}

/** Input of the layout. */
export interface LayoutInput {
  store: EventStore;
  scale: Scale;
  strips: Strips;
  /** Height for labels below the base line. */
  below: number;
  /** Extra width on each side of the view. */
  margin: number;
  measure: (text: string) => number;
  /** Row that is labeled before all others, or −1. */
  selected: number;
  /** Vertical lines through the label area, in pixels from the center. Labels avoid them if there is an alternative. */
  crossings?: readonly Crossing[] | undefined;
}

/** Horizontal extent of a line. */
export type Crossing = readonly [from: number, to: number];

/** Result of a hit test: the nearest row, and all rows at the same point. */
export interface HitResult {
  /** −1 if there is none. */
  row: number;
  rows: readonly number[];
}
/** Visible part of a lane, used to place its buttons. */
export interface VisibleLane {
  key: string;
  name: string;
  /** Top and bottom, in pixels from the top of the axis. */
  top: number;
  bottom: number;
  isOpen: boolean;
  /** Number of visible rows, and of further rows with events in view. */
  rows: number;
  more: number;
}

/** Input of the lane layout. Heights are in pixels from the top of the axis. */
export interface LanesInput {
  store: EventStore;
  groups: Uint8Array | null;
  /** Groups with lanes; null without grouping, when there is a single lane. */
  legend: Legend | null;
  top: number;
  bottom: number;
  base: number;
}

/** Visible rows of the lanes and their positions. */
export interface LaneRows {
  readonly input: LanesInput;
  readonly lanes: readonly VisibleLane[];
  /** Total height of all lanes, and the visible part of it. */
  readonly height: number;
  readonly room: number;
  /** Bottom of the pinned lanes, in pixels from the top of the axis; the other lanes scroll below it. */
  readonly edge: number;
  /** Top of the visible part of a lane, in pixels from the top of the axis. */
  topOf: (lane: number) => number;
  /** Whether the lane of an event is visible at `y`, in pixels from the base line. */
  isAt: (event: number, y: number) => boolean;
  /** Whether an event has a row; only events with a duration have one. */
  has: (event: number) => boolean;
  laneOf: (event: number) => number;
  /** Whether the row of an event is among the visible rows of its lane. */
  isVisible: (event: number) => boolean;
  /** Vertical center of an event's bar, relative to the base line; null without a row. */
  middle: (event: number) => number | null;
  /** Lays out the bars between two positions and counts the missing rows of each lane. */
  place: (input: LayoutInput, xs: (event: number) => number, last: number, from: number) => PlacedRows;
  /**
   * Clips drawing to the visible lanes. Pinned lanes and scrolled lanes are drawn separately; `isIn` selects the lanes
   * of each pass.
   */
  clip: (context: CanvasRenderingContext2D, draw: (isIn: (lane: number) => boolean) => void) => void;
}

/** The bars of a layout in the rows of its lanes. */
export interface PlacedRows {
  readonly rows: LaneRows;
  has: LaneRows['has'];
  middle: LaneRows['middle'];
  /** Draws the bars, and the text of those in which the view cannot start. */
  paint: (sheet: CanvasRenderingContext2D, scene: SheetScene, base: number, left: number) => void;
  /** Draws the text that stays in view while its bar leaves it on the left; the sheet starts at `left`. */
  paintMoving: (frame: Frame, from: number, to: number, left: number) => void;
  pick: (x: number, y: number) => HitResult | null;
  /** Outlines the bar of an event; `middle` is the center of the layout. */
  outline: (frame: Frame, event: number, middle: number, color: string) => void;
}
