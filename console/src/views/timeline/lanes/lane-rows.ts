/** Lanes of events with a duration: packed into rows and labeled if there is room. Loaded on demand. */
import type { EventStore } from '../../../lib/events/store';
import type { Legend } from '../groups/groups';
import { fromTop, lanePlaces } from './lane-order';
import type {
  Frame,
  LaneRows,
  VisibleLane,
  LanesInput,
  LayoutInput,
  HitResult,
  PlacedRows,
  SheetScene,
  Strips,
} from '../axis/picture';
import { BAR_MIN, DOT } from '../axis/layout';
import { box, paintMark } from '../axis/paint';
import { pack, shareRows, type Packing } from './packing';

export const ROW_HEIGHT = 20;
const BAR_HEIGHT = 17;
/** Distance between the last row of a lane and the next lane. */
const GAP = 7;
const NAME_HEIGHT = 21;
/** Height of the dot stacks of a lane, and of a single lane. */
const DOTS_HEIGHT = 5 * DOT + 4;
const DOTS_HEIGHT_ALONE = 16 * DOT + 4;
/** Padding around the text of a bar, and the minimum width for a truncated text. */
const TEXT_ROOM = 14;
const TEXT_MIN = 26;
/** Maximum distance between the pointer and a bar: some bars are very thin. */
const NEAR = 3;
/** Maximum share of the height for pinned lanes, so that others stay visible below them. */
const PINNED_SHARE_MAX = 0.6;

interface Bar {
  event: number;
  x: number;
  y: number;
  length: number;
  text: string;
  textWidth: number;
}

/** Name of the ungrouped lane in the address, and of the single lane without grouping. */
export const OTHERS = '*';

let packed: { store: EventStore; groups: Uint8Array | null; lanes: number; packing: Packing } | null = null;

function packingOf(store: EventStore, groups: Uint8Array | null, lanes: number): Packing {
  if (packed?.store !== store || packed.groups !== groups || packed.lanes !== lanes) {
    const laneOf = (event: number): number => Math.min(groups?.[event] ?? 0, lanes - 1);
    packed = { store, groups, lanes, packing: pack(store, laneOf, lanes) };
  }
  return packed.packing;
}

/** View of the lanes: open, scrolled, reordered and pinned lanes. */
export class LaneView {
  readonly order: readonly string[];
  readonly pins: ReadonlySet<string>;

  constructor(
    readonly open: ReadonlySet<string>,
    readonly scrolled: number,
    order: readonly string[] = [],
    pins: readonly string[] = [],
  ) {
    this.order = [...pins, ...order];
    this.pins = new Set(pins);
  }

  /** Returns the position of each lane of a legend from the top. */
  places(legend: Legend, count: number): number[] {
    return lanePlaces(legend, this.order, count);
  }

  /** Distance of a single lane's line from the top. */
  baseBelow(store: EventStore): number {
    return packingOf(store, null, 1).hasMoments ? DOTS_HEIGHT_ALONE : GAP;
  }

  strips(input: LanesInput): Strips {
    return new Rows(input, this).strips;
  }
}

class Rows implements LaneRows {
  readonly strips: Strips;
  readonly lanes: VisibleLane[] = [];
  readonly height: number;
  readonly room: number;
  readonly packing: Packing;
  readonly edge: number;
  readonly #pinned = new Set<number>();
  /** Top of the first row of each lane, relative to the base line. */
  readonly #tops: number[] = [];

  constructor(
    readonly input: LanesInput,
    view: LaneView,
  ) {
    const { store, groups, legend, top, bottom, base } = input;
    const named = legend?.groups ?? [];
    this.packing = packingOf(store, groups, named.length + 1);
    const hasRest = legend === null || legend.others > 0 || this.packing.counts[named.length]! > 0;
    const names = [...named.map(({ key }) => key), ...(hasRest ? [OTHERS] : [])];
    this.room = Math.max(0, bottom - top);
    const above = aboveRows(legend === null, names.length, this.packing);
    const isOpen = names.map((key) => view.open.has(key));
    const free = this.room - names.length * (above + GAP);
    const rowCounts = shareRows(this.packing.counts.slice(0, names.length), isOpen, Math.floor(free / ROW_HEIGHT));
    const order = fromTop(legend === null ? [0] : view.places(legend, names.length));
    const pinned = order.filter((lane) => legend !== null && view.pins.has(names[lane]!));
    this.edge = top + this.#pinLanes(pinned, rowCounts, free, above + GAP);
    const rows = rowCounts.reduce((sum, count) => sum + count, 0);
    // Distribute the remaining height evenly.
    const spare = Math.max(0, Math.floor((free - rows * ROW_HEIGHT) / names.length));
    this.height = names.length * (above + GAP + spare) + rows * ROW_HEIGHT;
    const scrolled = Math.min(view.scrolled, Math.max(0, this.height - this.room));
    let at = top;
    const ys: number[] = [];
    for (const [place, lane] of order.entries()) {
      if (place === this.#pinned.size) at -= scrolled;
      const key = names[lane]!;
      const begin = at;
      this.#tops[lane] = at + above + 4 - base;
      at += above + rowCounts[lane]! * ROW_HEIGHT + GAP + spare;
      const name = legend === null ? '' : lane >= named.length ? 'others' : key;
      this.lanes[lane] = { key, name, top: begin, bottom: at, isOpen: isOpen[lane]!, rows: rowCounts[lane]!, more: 0 };
      ys[lane] = begin + above - base;
    }
    this.strips = { ys, groups, above, base, rows: this };
  }

  /**
   * Pins lanes to the top if not all lanes fit, as many as leave room for the others. Limits the rows of an open pinned
   * lane. Returns the total height of the pinned lanes.
   */
  #pinLanes(pinned: readonly number[], rowCounts: number[], free: number, around: number): number {
    if (rowCounts.reduce((sum, count) => sum + count, 0) * ROW_HEIGHT <= free) return 0;
    const most = this.room * PINNED_SHARE_MAX;
    let height = 0;
    for (const lane of pinned) {
      const room = Math.floor((most - height - around) / ROW_HEIGHT);
      if (room < Math.min(1, rowCounts[lane]!)) break;
      rowCounts[lane] = Math.min(rowCounts[lane]!, room);
      height += around + rowCounts[lane] * ROW_HEIGHT;
      this.#pinned.add(lane);
    }
    return height;
  }

  topOf(lane: number): number {
    return this.#pinned.has(lane) ? this.input.top : this.edge;
  }

  isAt(event: number, y: number): boolean {
    const at = y + this.input.base;
    return this.#pinned.has(this.laneOf(event)) ? at < this.edge : at >= this.edge;
  }

  has(event: number): boolean {
    return this.packing.rows[event]! >= 0;
  }

  laneOf(event: number): number {
    return Math.min(this.input.groups?.[event] ?? 0, this.lanes.length - 1);
  }

  isVisible(event: number): boolean {
    return this.packing.rows[event]! < this.lanes[this.laneOf(event)]!.rows;
  }

  middle(event: number): number | null {
    const row = this.packing.rows[event]!;
    if (row < 0) return null;
    const lane = this.laneOf(event);
    return this.#tops[lane]! + Math.min(row, this.lanes[lane]!.rows) * ROW_HEIGHT + BAR_HEIGHT / 2;
  }

  place(input: LayoutInput, xs: (event: number) => number, last: number, from: number): PlacedRows {
    const { store, scale, measure } = input;
    const { rows, next } = this.packing;
    const bars: Bar[] = [];
    for (const lane of this.lanes) lane.more = 0;
    for (let event = 0; event < last; event += 1) {
      if (rows[event]! < 0) continue;
      const x = xs(event);
      const length = store.lengths[event]! / scale.pixel;
      if (x + length < from) continue;
      const lane = this.lanes[this.laneOf(event)]!;
      if (!this.isVisible(event)) {
        lane.more = Math.max(lane.more, rows[event]! + 1 - lane.rows);
        continue;
      }
      const room = (next[event]! < 0 ? Infinity : xs(next[event]!) - x) - TEXT_ROOM;
      const { text, textWidth } = cut(store.titles[event]!.split('\n', 1)[0]!, room, measure);
      bars.push({ event, x, y: this.middle(event)! - BAR_HEIGHT / 2, length, text, textWidth });
    }
    return new Bars(this, bars, scale.width);
  }

  clip(context: CanvasRenderingContext2D, draw: (isIn: (lane: number) => boolean) => void): void {
    const { top } = this.input;
    for (const isPinned of this.#pinned.size > 0 ? [true, false] : [false]) {
      const [from, to] = isPinned ? [top, this.edge] : [this.edge, top + this.room];
      context.save();
      context.beginPath();
      context.rect(-1e5, from, 1e6, Math.max(0, to - from));
      context.clip();
      draw((lane) => this.#pinned.has(lane) === isPinned);
      context.restore();
    }
  }
}

/** Returns the height above the rows of a lane: dots and name. */
function aboveRows(isUnnamed: boolean, lanes: number, { hasMoments }: Packing): number {
  if (!hasMoments) return isUnnamed ? GAP : NAME_HEIGHT;
  return lanes === 1 ? DOTS_HEIGHT_ALONE : DOTS_HEIGHT;
}

/** Truncates a text to the available width; returns an empty text if it would be too short to read. */
function cut(text: string, room: number, measure: (text: string) => number): { text: string; textWidth: number } {
  const whole = measure(text);
  if (whole <= room) return { text, textWidth: whole };
  if (room < TEXT_MIN) return { text: '', textWidth: 0 };
  const letters = Math.floor((text.length * room) / whole) - 1;
  return { text: `${text.slice(0, Math.max(1, letters)).trimEnd()}…`, textWidth: room };
}

class Bars implements PlacedRows {
  constructor(
    readonly rows: Rows,
    private readonly bars: readonly Bar[],
    private readonly width: number,
  ) {}

  has(event: number): boolean {
    return this.rows.has(event);
  }

  middle(event: number): number | null {
    return this.rows.middle(event);
  }

  paint(sheet: CanvasRenderingContext2D, scene: SheetScene, base: number, left: number): void {
    const { palette, colors, marks, store, isIn } = scene;
    for (const bar of this.bars) {
      if (isIn?.(bar.event) === false) continue;
      const [x, y] = [left + bar.x, base + bar.y];
      sheet.fillStyle = colors(bar.event);
      // Leave a gap between neighbors in a row.
      const length = Math.max(bar.length - 1, 1.5);
      if (length < BAR_MIN) sheet.fillRect(x, y, length, BAR_HEIGHT);
      else {
        sheet.globalAlpha = 0.2;
        box(sheet, x, y, length, BAR_HEIGHT, 3);
        sheet.fill();
        sheet.globalAlpha = 1;
        sheet.fillRect(x, y, 3, BAR_HEIGHT);
      }
      if (!this.#moves(bar, scene.layout.to)) write(sheet, scene.palette, bar, x, y);
      const mark = marks.get(store.ids[bar.event]!);
      if (mark) paintMark(sheet, palette, mark, x, y + BAR_HEIGHT / 2);
    }
  }

  #moves(bar: Bar, to: number): boolean {
    return bar.text !== '' && slack(bar) > 0 && bar.x < to - this.width;
  }

  paintMoving({ context, palette, scale, base }: Frame, from: number, to: number, left: number): void {
    this.rows.clip(context, (isIn) => {
      for (const bar of this.bars) {
        if (!this.#moves(bar, to) || !isIn(this.rows.laneOf(bar.event))) continue;
        const x = left + bar.x - from;
        if (x + bar.length < 0 || x > scale.width) continue;
        write(context, palette, bar, x + Math.min(slack(bar), Math.max(0, -x)), base + bar.y);
      }
    });
  }

  pick(x: number, y: number): HitResult | null {
    const inRow = this.bars.filter(
      (bar) => y >= bar.y - 1 && y <= bar.y + BAR_HEIGHT + 1 && this.rows.isAt(bar.event, y),
    );
    const at = inRow.filter((bar) => x >= bar.x - NEAR && x <= bar.x + Math.max(bar.length, 1.5) + NEAR);
    const within = at.filter((bar) => x >= bar.x && x <= bar.x + bar.length);
    const labeled = inRow.find((bar) => bar.text !== '' && x >= bar.x && x <= bar.x + bar.textWidth + TEXT_ROOM);
    // Prefer bars wide enough to be hit; otherwise take bars or labels near the pointer.
    const found = within.some((bar) => bar.length >= 2 * NEAR) ? within : at.length > 0 ? at : labeled ? [labeled] : [];
    if (found.length === 0) return null;
    const events = found.map((bar) => bar.event).sort((a, b) => a - b);
    return { row: found[0]!.event, rows: events };
  }

  outline({ context, base }: Frame, event: number, middle: number, color: string): void {
    const bar = this.bars.find((candidate) => candidate.event === event);
    if (bar === undefined) return;
    this.rows.clip(context, (isIn) => {
      if (!isIn(this.rows.laneOf(event))) return;
      context.strokeStyle = color;
      context.lineWidth = 2;
      box(context, middle + bar.x - 1, base + bar.y - 1, Math.max(bar.length, 1.5) + 1, BAR_HEIGHT + 2, 4);
      context.stroke();
    });
  }
}

/** How far the text of a bar can move to the right inside it. */
const slack = (bar: Bar): number => Math.max(0, bar.length - bar.textWidth - TEXT_ROOM);

function write(
  context: CanvasRenderingContext2D,
  palette: SheetScene['palette'],
  { text, textWidth, length }: Bar,
  x: number,
  y: number,
): void {
  if (text === '') return;
  context.font = `500 12px ${palette.sans}`;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  context.fillStyle = palette.ink;
  // Next to a bar that is too short for its text.
  const begin = length < BAR_MIN ? Math.max(length, 1.5) + 3 : 7;
  context.fillText(text, x + begin, y + BAR_HEIGHT / 2 + 0.5, textWidth + 1);
}
