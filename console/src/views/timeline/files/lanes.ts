/** Lanes in an exported picture: bars of counts, or event rows, including rows that do not fit on the axis. */
import type { Counts } from '../../../lib/events/counts';
import { timeAt, xOf, type Scale } from '../../../lib/chart/scale';
import type { EventStore } from '../../../lib/events/store';
import { countText } from '../../../lib/events/words';
import { format } from '../../../lib/time/instant';
import { hue, type Palette } from '../../../lib/chart/palette';
import { barSpans, bucketsIn, laneHeights, maxCountIn, share, without, type BarSpan } from '../../../lib/chart/bars';
import type { Legend } from '../groups/groups';
import { fromTop, lanePlaces } from '../lanes/lane-order';
import { pack } from '../lanes/packing';
import type { Range } from '../viewport.svelte';

interface LanesInput {
  view: Scale;
  /** Times of the first and last event. */
  extent: Range | null;
  store: EventStore;
  counts: Counts | null;
  /** Groups with a lane each; null for a single lane. */
  legend: Legend | null;
  series: readonly Counts[] | null;
  groups: Uint8Array | null;
  isLog: boolean;
  /** Reordered lanes, from the top. */
  order: readonly string[];
}

/** Helpers for writing SVG. */
export interface Pen {
  n: (value: number) => string;
  escaped: (text: string) => string;
  text: (x: number, y: number, words: string, more?: string) => string;
}

/** Writes a bar, or one color of a bar, as its spans. */
export function barOf(
  spans: readonly BarSpan[],
  { top, high, color }: { top: string; high: string; color: string },
  n: Pen['n'],
): string {
  const rest = `y="${top}" height="${high}" fill="${color}"`;
  return spans
    .map(({ x, width, alpha }) => {
      const opacity = alpha < 1 ? ` fill-opacity="${alpha}"` : '';
      return `<rect x="${n(x)}" width="${n(width)}" ${rest}${opacity}/>`;
    })
    .join('');
}

interface Drawing {
  svg: string;
  height: number;
}

const NAME_HEIGHT = 22;
const ROW_HEIGHT = 18;
const BAR_HEIGHT = 15;
const BARS_HEIGHT = 64;
const GAP = 8;
const LETTER = 6.4;
/** Maximum rows per lane, to keep the picture readable. */
const ROWS_MAX = 80;
const DOT = 7;
const LEVELS_MAX = 6;

/** Draws lanes below `top`. */
export function lanes(input: LanesInput, palette: Palette, top: number, pen: Pen): Drawing {
  const drawn = input.store.count > 0 ? rows(input, palette, top, pen) : bars(input, palette, top, pen);
  return { svg: drawn.svg, height: drawn.height + GAP };
}

/** Returns the lane indexes from top to bottom. */
function inOrder({ legend, order }: LanesInput, count: number): number[] {
  if (legend === null || count === 1) return [0];
  return fromTop(lanePlaces(legend, order, count));
}

function colorOf({ legend }: LanesInput, palette: Palette, lane: number): string {
  return legend === null ? palette.accent : hue(palette, lane, legend.groups.length);
}

/** Writes the name of a lane. */
function name(input: LanesInput, palette: Palette, lane: number, y: number, { n, text }: Pen): string {
  const { legend } = input;
  if (legend === null) return '';
  return (
    `<rect x="8" y="${n(y + 6)}" width="8" height="8" fill="${colorOf(input, palette, lane)}"/>` +
    text(21, y + 14, legend.groups[lane]?.key ?? 'others', `font-size="12" font-weight="600" fill="${palette.ink}"`)
  );
}

/** Writes a note at the right end of a line. */
function note({ view }: LanesInput, palette: Palette, y: number, words: string, { text }: Pen): string {
  return words === '' ? '' : text(view.width - 8, y, words, `font-size="11" text-anchor="end" fill="${palette.muted}"`);
}

const line = ({ view }: LanesInput, y: number, color: string, { n }: Pen): string =>
  `<rect y="${n(y)}" width="${n(view.width)}" height="1" fill="${color}"/>`;

function rows(input: LanesInput, palette: Palette, top: number, pen: Pen): Drawing {
  const { view, store, groups, legend } = input;
  const named = legend?.groups.length ?? 0;
  const laneOf = (event: number): number => Math.min(groups?.[event] ?? 0, named);
  const packing = pack(store, laneOf, named + 1);
  const last = store.lowerBound(timeAt(view, view.width) + 1n);
  const inView = Array.from({ length: last }, (_, event) => event).filter(
    (event) => xOf(view, store.time(event)) + store.lengths[event]! / view.pixel >= 0,
  );
  const parts: string[] = [];
  let y = top;
  for (const lane of inOrder(input, named + 1)) {
    const own = inView.filter((event) => laneOf(event) === lane);
    if (lane === named && own.length === 0 && legend !== null) continue;
    const lasting = own.filter((event) => packing.rows[event]! >= 0);
    const needed = lasting.reduce((most, event) => Math.max(most, packing.rows[event]! + 1), 0);
    const count = Math.min(needed, ROWS_MAX);
    const moments = dots(
      input,
      palette,
      own.filter((event) => packing.rows[event]! < 0),
      pen,
    );
    const head = y + moments.height;
    const more = needed > count ? countText(needed - count, 'more row') : '';
    parts.push(
      name(input, palette, lane, head, pen),
      note(input, palette, head + 14, more, pen),
      line(input, head + NAME_HEIGHT - 1, palette.line, pen),
      moments.draw(head + NAME_HEIGHT - 6),
    );
    for (const event of lasting.filter((one) => packing.rows[one]! < count)) {
      const next = packing.next[event]!;
      const end = next < 0 ? view.width : xOf(view, store.time(next));
      parts.push(bar(input, palette, event, head + NAME_HEIGHT + 3 + packing.rows[event]! * ROW_HEIGHT, end, pen));
    }
    y = head + NAME_HEIGHT + 3 + count * ROW_HEIGHT + GAP;
  }
  return { svg: parts.join(''), height: y - top };
}

/** Draws an event with a duration. Its name may extend to `end`, where the next event in the row starts. */
function bar(
  { view, store, groups, legend }: LanesInput,
  palette: Palette,
  event: number,
  y: number,
  end: number,
  pen: Pen,
): string {
  const { n, escaped, text } = pen;
  const color =
    legend === null || groups === null ? palette.accent : hue(palette, groups[event]!, legend.groups.length);
  const begin = xOf(view, store.time(event));
  const x = Math.max(0, begin);
  const length = Math.max(1.5, Math.min(view.width, begin + store.lengths[event]! / view.pixel) - x - 1);
  const title = store.titles[event]!;
  const letters = Math.floor((end - x - 14) / LETTER);
  const words = title.length <= letters ? title : letters > 3 ? `${title.slice(0, letters - 1).trimEnd()}…` : '';
  return (
    `<rect x="${n(x)}" y="${n(y)}" width="${n(length)}" height="${BAR_HEIGHT}" fill="${color}" fill-opacity="0.22">` +
    `<title>${escaped(`${title}, ${format(store.time(event))}`)}</title></rect>` +
    (begin >= 0
      ? `<rect x="${n(x)}" y="${n(y)}" width="${n(Math.min(3, length))}" height="${BAR_HEIGHT}" fill="${color}"/>`
      : '') +
    (words === '' ? '' : text(x + 7, y + 11.5, words, `font-size="11" fill="${palette.ink}"`))
  );
}

/** Stacks events without duration. Drawing is deferred because the base line depends on the height of the stacks. */
function dots(input: LanesInput, palette: Palette, events: readonly number[], { n, escaped }: Pen) {
  const { view, store, groups, legend } = input;
  const levels = new Map<number, number>();
  const placed = events.map((event) => {
    const x = xOf(view, store.time(event));
    const column = Math.floor(x / DOT);
    const level = levels.get(column) ?? 0;
    levels.set(column, level + 1);
    return { event, x, level: Math.min(level, LEVELS_MAX - 1) };
  });
  const height = placed.reduce((most, { level }) => Math.max(most, level), 0) * DOT;
  const draw = (base: number): string =>
    placed
      .map(({ event, x, level }) => {
        const color =
          legend === null || groups === null ? palette.accent : hue(palette, groups[event]!, legend.groups.length);
        return (
          `<circle cx="${n(x)}" cy="${n(base - level * DOT)}" r="3" fill="${color}">` +
          `<title>${escaped(`${store.titles[event]!}, ${format(store.time(event))}`)}</title></circle>`
        );
      })
      .join('');
  return { height, draw };
}

function bars(input: LanesInput, palette: Palette, top: number, pen: Pen): Drawing {
  const { view, extent, counts, legend, series, isLog } = input;
  if (counts === null) return { svg: '', height: 0 };
  const frame = { scale: view, extent };
  const named = legend === null || series === null ? [counts] : series;
  const rest = legend !== null && series !== null && legend.others > 0 ? without(counts, series) : null;
  const scaleOf = laneHeights(
    named.map((own) => maxCountIn(own, frame)),
    rest === null ? null : maxCountIn(rest, frame),
    isLog,
    BARS_HEIGHT,
  );
  const parts: string[] = [];
  let y = top;
  const all = [...named, ...(rest === null ? [] : [rest])];
  for (const lane of inOrder(input, all.length)) {
    const own = all[lane]!;
    const scale = scaleOf(lane);
    const base = y + BARS_HEIGHT;
    for (const bucket of bucketsIn(own, frame)) {
      if (bucket.count === 0) continue;
      const barHeight = Math.max(1.5, share(scale, bucket.count) * BARS_HEIGHT);
      const drawn = { top: pen.n(base - barHeight), high: pen.n(barHeight), color: colorOf(input, palette, lane) };
      parts.push(barOf(barSpans(frame, bucket), drawn, pen.n));
    }
    const most = scale.ticks.at(-1) ?? scale.max;
    const at = base - share(scale, most) * BARS_HEIGHT;
    parts.push(
      line(input, at, palette.line, pen),
      line(input, base, palette['line-strong'], pen),
      name(input, palette, lane, base - BARS_HEIGHT, pen),
      note(input, palette, at + 12, most.toLocaleString('en'), pen),
    );
    y = base + GAP * 2;
  }
  return { svg: parts.join(''), height: y - top };
}
