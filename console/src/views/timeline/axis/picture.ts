/**
 * What the picture of the axis is made of: what it is drawn on, where its events are, and the rows of its lanes. How
 * all of that is computed and drawn is in the modules that import this one.
 */
import type { Scale } from '../../../lib/chart/scale';
import type { EventStore } from '../../../lib/events/store';
import type { Palette } from '../../../lib/chart/palette';
import type { Legend } from '../groups/groups';
import type { Range } from '../sight.svelte';

/** What is drawn on, and which part of time it shows. */
export interface Frame {
  context: CanvasRenderingContext2D;
  palette: Palette;
  scale: Scale;
  /** When the first event happens, and the last. */
  extent: Range | null;
  height: number;
  /** Where the base line is. */
  base: number;
}

/** What a sheet shows. */
export interface SheetScene {
  layout: Layout;
  store: EventStore;
  palette: Palette;
  marks: Marks;
  /** The color of each row, where events are told apart by one. */
  colors: Colors;
  /** Whether a row is drawn, where lanes are drawn in parts. */
  isIn?: (row: number) => boolean;
}

export type Colors = (row: number) => string;

/** What was done to an event, and what is wrong with it. */
export interface Mark {
  isTouched: boolean;
  isParadox: boolean;
}
export type Marks = ReadonlyMap<string, Mark>;

/** A label, or the bar of an event that lasts, or both. */
export interface Label {
  row: number;
  x: number;
  width: number;
  /** Length of the bar in pixels; 0 for a moment. */
  bar: number;
  line: number;
  /** How far its text can move to the right in its bar, to stay in view. */
  slack: number;
  /** Whether it stands left of its moment, since it would leave the screen on the right. */
  isLeft: boolean;
  text: string;
}

export interface Layout {
  scale: Scale;
  /** From where to where it reaches, in pixels from the middle. */
  from: number;
  to: number;
  /** The rows in sight: `[first, last)`. */
  first: number;
  last: number;
  /** Whether every event has a dot. Where the stacks would be too high, there are bars instead. */
  isDots: boolean;
  /** Where the dot of each row in sight is: from the middle, and from the base line. */
  xs: Float32Array;
  ys: Float32Array;
  /** Which stack it is in. */
  columns: Int32Array;
  labels: Label[];
  /** Events that last and have no label, thin. */
  thin: { row: number; x: number; y: number; bar: number }[];
  strips: Strips;
  /** What lasts, in the rows of its lanes; null where there are none, and it is among the labels. */
  rows: PlacedRows | null;
}

/** The lines that events stand on: one, or one for each group. */
export interface Strips {
  /** Where they are below the base line. */
  ys: readonly number[];
  /** On which of them each row stands; on the only one where there are no groups. */
  groups: Uint8Array | null;
  /** Room for dots above each. */
  above: number;
  /** Where the base line is, from the top of the axis. */
  base: number;
  /** Where what lasts stands in rows. */
  rows?: LaneRows;
}

/** What is laid out, and where there is room for it. */
export interface LayoutInput {
  store: EventStore;
  scale: Scale;
  strips: Strips;
  /** Room for labels below. */
  below: number;
  /** How much more than the screen is laid out on each side. */
  margin: number;
  measure: (text: string) => number;
  /** A row that gets its label before all others, or −1. */
  selected: number;
  /** Where lines run down through the labels, from the middle. A label keeps clear of them where it has a choice. */
  crossings?: readonly Crossing[] | undefined;
}

/** From where to where one runs, sideways. */
export type Crossing = readonly [from: number, to: number];

/** What is under the pointer: the nearest row, and all that are there, which one cannot tell apart. */
export interface Picked {
  /** −1 where there is none. */
  row: number;
  rows: readonly number[];
}
/** What of a lane is shown, for the buttons beside it. */
export interface VisibleLane {
  key: string;
  name: string;
  /** Where it begins and ends, in pixels from the top of the axis. */
  top: number;
  bottom: number;
  isOpen: boolean;
  /** How many rows it shows, and how many more have events in sight. */
  rows: number;
  more: number;
}

/** What is to be laid out, and into which part of the axis; heights are in pixels from its top. */
export interface LanesInput {
  store: EventStore;
  groups: Uint8Array | null;
  /** The groups that have lanes; null where nothing is told apart, and there is one lane. */
  legend: Legend | null;
  top: number;
  bottom: number;
  base: number;
}

/** The rows of lanes: which of them are shown, and where. */
export interface LaneRows {
  readonly input: LanesInput;
  readonly lanes: readonly VisibleLane[];
  /** How high all lanes are together, and how much of that is seen at once. */
  readonly height: number;
  readonly room: number;
  /** Where the lanes that stay on top end, from the top of the axis: the others are scrolled below. */
  readonly edge: number;
  /** From where on a lane is seen, from the top of the axis. */
  topOf: (lane: number) => number;
  /** Whether the lane of an event is seen at a height, which is from the base line. */
  isAt: (event: number, y: number) => boolean;
  /** Whether an event has a row: moments have none. */
  has: (event: number) => boolean;
  laneOf: (event: number) => number;
  /** Whether the row of an event is among those that its lane shows. */
  isVisible: (event: number) => boolean;
  /** Where the middle of the bar of an event is, from the base line; null where it has no row. */
  middle: (event: number) => number | null;
  /** Lays out the bars between two places; says of each lane how many rows more it would need for them. */
  place: (input: LayoutInput, xs: (event: number) => number, last: number, from: number) => PlacedRows;
  /**
   * Draws only where the lanes are: what is scrolled out of there is not seen. Those that stay on top are drawn apart
   * from those that are scrolled below them; `draw` is told which lanes it is about.
   */
  clip: (context: CanvasRenderingContext2D, draw: (isIn: (lane: number) => boolean) => void) => void;
}

/** The bars of a layout, in the rows of its lanes. */
export interface PlacedRows {
  readonly rows: LaneRows;
  has: LaneRows['has'];
  middle: LaneRows['middle'];
  /** Draws the bars, and what is written in those that the view cannot come to begin in. */
  paint: (sheet: CanvasRenderingContext2D, scene: SheetScene, base: number, left: number) => void;
  /** Writes what stays in view while its bar goes out of it on the left; the sheet begins at `left`. */
  paintMoving: (frame: Frame, from: number, to: number, left: number) => void;
  pick: (x: number, y: number) => Picked | null;
  /** Draws a line around the bar of an event; the middle of the layout is at `middle`. */
  outline: (frame: Frame, event: number, middle: number, color: string) => void;
}
