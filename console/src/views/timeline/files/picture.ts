/** Draws the axis as a self-contained SVG without external resources. */
import type { Counts } from '../../../lib/events/counts';
import { timeAt, xOf, type Scale } from '../../../lib/chart/scale';
import type { EventStore } from '../../../lib/events/store';
import { ticks } from '../../../lib/chart/ticks';
import { countText, rangeText } from '../../../lib/events/words';
import { format } from '../../../lib/time/instant';
import { hue, type Palette } from '../../../lib/chart/palette';
import { plain } from '../../../lib/text/plain';
import { barSpans, heights, maxCountIn, share } from '../../../lib/chart/bars';
import type { Legend } from '../groups/groups';
import type { Range } from '../viewport.svelte';
import { barOf, lanes } from './lanes';
import { values, type ValuesInput } from './values';

export interface PictureInput {
  title: string;
  view: Scale;
  /** Times of the first and last event. */
  extent: Range | null;
  counts: Counts | null;
  /** Events that are drawn individually. */
  store: EventStore;
  legend: Legend | null;
  series: readonly Counts[] | null;
  groups: Uint8Array | null;
  isLog: boolean;
  /** Reordered lanes, from the top. */
  order: readonly string[];
  /** Whether each group has a lane. */
  isSplit: boolean;
  /** The chart of values below the axis; null if there is none. */
  values: ValuesInput | null;
  /** Notes at the bottom: the filter and the state. */
  notes: readonly string[];
}

const TOP = 64;
const ROOM = 260;
const BASE = TOP + ROOM;
/** Height of the ruler: ticks and labels. */
const RULER = 40;
const FOOT = 76;
const LABELS_MAX = 24;
/** Maximum average width of a character. */
const LETTER = 6.5;
/** Size of a dot, and height of a line of text. */
const DOT = 8;
const LINE = 18;
/** Events up to this length in pixels are drawn as a dot. */
const BAR_MIN = 4;

/**
 * Characters outside `Char` of XML 1.0 (section 2.2) that `plain` keeps: lone surrogates and two noncharacters. An SVG
 * that contains one, even escaped, cannot be parsed.
 */
const FORBIDDEN = /[\p{Cs}\ufffe\uffff]/gu;
const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escaped = (text: string): string =>
  plain(text)
    .replaceAll(FORBIDDEN, '\ufffd')
    .replaceAll(/[&<>"]/g, (char) => ENTITIES[char]!);
const n = (value: number): string => Number(value.toFixed(2)).toString();

export function picture(input: PictureInput, palette: Palette): { svg: string; height: number } {
  const { view, title, counts, notes } = input;
  const text = (x: number, y: number, words: string, more = ''): string =>
    `<text x="${n(x)}" y="${n(y)}" ${more}>${escaped(words)}</text>`;
  const isBars = counts !== null && input.store.count === 0;
  const split = input.isSplit ? lanes(input, palette, TOP, { n, escaped, text }) : null;
  const base = split === null ? BASE : TOP + split.height;
  const pen = { n, escaped, text };
  const below = input.values === null ? null : values(input, input.values, palette, base + RULER, pen);
  const foot = base + (below?.height ?? 0);
  const height = foot + FOOT;
  const parts: string[] = [
    `<rect width="${n(view.width)}" height="${n(height)}" fill="${palette.surface}"/>`,
    text(16, 28, title, `font-size="17" font-weight="600" fill="${palette.ink}"`),
    text(16, 48, rangeText(timeAt(view, 0), timeAt(view, view.width)), `font-size="13" fill="${palette.muted}"`),
  ];
  if (split !== null) parts.push(split.svg);
  else if (counts !== null && isBars) parts.push(bars(input, counts, palette));
  else parts.push(dots(input, palette, text));
  const { ticks: marks, periods } = ticks(view);
  parts.push(`<rect y="${n(base)}" width="${n(view.width)}" height="1" fill="${palette['line-strong']}"/>`);
  for (const { x, label, isMajor } of marks) {
    parts.push(`<rect x="${n(x)}" y="${n(base)}" width="1" height="6" fill="${palette['line-strong']}"/>`);
    if (x < 0 || x + 3 + label.length * LETTER > view.width) continue;
    parts.push(text(x + 3, base + 18, label, `font-size="11" fill="${isMajor ? palette.ink : palette.muted}"`));
  }
  periods.forEach(({ x, label }, index) => {
    const left = Math.max(x, 0) + 3;
    // Skip a label that overlaps the next one or is cut by the edge: a truncated date reads as a different date.
    if (left + label.length * LETTER > Math.min(periods[index + 1]?.x ?? Infinity, view.width)) return;
    parts.push(text(left, base + 34, label, `font-size="11" fill="${palette.muted}"`));
  });
  if (below !== null) parts.push(below.svg);
  parts.push(legend(input, palette, foot, text));
  parts.push(text(16, height - 8, notes.join(' · '), `font-size="11" fill="${palette.muted}"`));
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${n(view.width)} ${n(height)}" width="${n(view.width)}" ` +
    `height="${n(height)}" font-family="Inter, system-ui, sans-serif">` +
    `<title>${escaped(title)}</title>${parts.join('')}</svg>`;
  return { svg, height };
}

function bars({ view, extent, isLog, legend: groups, series }: PictureInput, counts: Counts, palette: Palette): string {
  const scale = heights(maxCountIn(counts, { scale: view }), isLog, ROOM);
  const colored = (series ?? []).map((item, index) => ({
    color: hue(palette, index, groups?.groups.length ?? 0),
    of: new Map(item.buckets.map((bucket) => [bucket.from, bucket.count])),
  }));
  const parts = scale.ticks.map((tick) => {
    const y = n(BASE - share(scale, tick) * ROOM);
    return (
      `<rect y="${y}" width="${n(view.width)}" height="1" fill="${palette.line}"/>` +
      `<text x="${n(view.width - 8)}" y="${n(Number(y) - 4)}" font-size="11" text-anchor="end" ` +
      `fill="${palette.muted}">${tick.toLocaleString('en')}</text>`
    );
  });
  for (const bucket of counts.buckets) {
    const { from, count } = bucket;
    const spans = barSpans({ scale: view, extent }, bucket);
    const last = spans.at(-1)!;
    if (last.x + last.width < 0 || spans[0]!.x > view.width || count === 0) continue;
    const barHeight = Math.max(1.5, share(scale, count) * ROOM);
    const named = colored.map(({ color, of }) => ({ color, count: of.get(from) ?? 0 }));
    const sum = named.reduce((all, item) => all + item.count, 0);
    const fit = sum > count ? count / sum : 1;
    const rest = { color: colored.length > 0 ? palette.faint : palette.accent, count: (count - sum * fit) / fit };
    let y = BASE;
    for (const item of [...named, rest]) {
      const partHeight = ((item.count * fit) / count) * barHeight;
      if (partHeight <= 0) continue;
      y -= partHeight;
      parts.push(barOf(spans, { top: n(y), high: n(partHeight), color: item.color }, n));
    }
  }
  return parts.join('');
}

function dots(
  input: PictureInput,
  palette: Palette,
  text: (x: number, y: number, words: string, more?: string) => string,
): string {
  const { view, store, groups, legend: found } = input;
  const first = store.lowerBound(timeAt(view, 0));
  const last = store.lowerBound(timeAt(view, view.width) + 1n);
  const labelled = last - first <= LABELS_MAX;
  const places = piled(input, first, last, labelled);
  const tallest = Math.max(1, ...places.map(({ level }) => level + 1));
  const step = Math.min(labelled ? LINE : DOT, (ROOM - DOT) / tallest);
  const parts: string[] = [];
  for (const { row, x, level, length, isLeft } of places) {
    const y = BASE - DOT / 2 - 2 - level * step;
    const color =
      groups && found ? hue(palette, groups[row] ?? found.groups.length, found.groups.length) : palette.accent;
    const shape =
      length > BAR_MIN
        ? `<rect x="${n(x)}" y="${n(y - 4)}" width="${n(length)}" height="8" rx="3" fill="${color}">`
        : `<circle cx="${n(x)}" cy="${n(y)}" r="4" fill="${color}">`;
    parts.push(
      `${shape}<title>${escaped(`${store.titles[row]!}, ${format(store.time(row))}`)}</title>` +
        `</${length > BAR_MIN ? 'rect' : 'circle'}>`,
    );
    const attributes = `font-size="11" fill="${palette.ink}"`;
    if (labelled && isLeft) parts.push(text(x - 8, y + 4, store.titles[row]!, `text-anchor="end" ${attributes}`));
    else if (labelled) parts.push(text(x + 8, y + 4, store.titles[row]!, attributes));
  }
  return parts.join('');
}

/** Position of an event. Overlapping events are stacked. */
interface Place {
  row: number;
  x: number;
  level: number;
  /** Length in pixels. */
  length: number;
  /** Whether the name is on the left because the right side has no room. */
  isLeft: boolean;
}

function piled({ view, store }: PictureInput, first: number, last: number, labelled: boolean): Place[] {
  const columnOf = (x: number): number => Math.floor(x / DOT);
  // Occupied levels by column.
  const taken = new Map<number, boolean[]>();
  const places: (Place & { column: number })[] = [];
  for (let row = first; row < last; row += 1) {
    const x = xOf(view, store.time(row));
    const length = store.lengths[row]! / view.pixel;
    const textWidth = labelled ? store.titles[row]!.length * LETTER + DOT : 0;
    const isLeft = labelled && x + textWidth > view.width && x > textWidth;
    const column = columnOf(isLeft ? x - textWidth : x);
    const end = Math.min(columnOf(Math.max(x + length, isLeft ? x : x + textWidth)), columnOf(view.width));
    const levels = Array.from({ length: Math.max(0, end - column) + 1 }, (_, index) => {
      const own = taken.get(column + index) ?? [];
      taken.set(column + index, own);
      return own;
    });
    let level = 0;
    while (levels.some((own) => own[level])) level += 1;
    for (const own of levels) own[level] = true;
    places.push({ row, x, level, length, isLeft, column });
  }
  if (labelled) return places;
  // The dots of a stack share one position; a single dot is at its exact time.
  const isPiled = ({ column, length }: (typeof places)[number]): boolean =>
    length <= BAR_MIN && (taken.get(column)?.length ?? 0) > 1;
  return places.map((item) => (isPiled(item) ? { ...item, x: (item.column + 0.5) * DOT } : item));
}

function legend(
  { legend: found, view }: PictureInput,
  palette: Palette,
  base: number,
  text: (x: number, y: number, words: string, more?: string) => string,
): string {
  if (found === null) return '';
  const entries = [
    ...found.groups.map(({ key, count }, index) => ({ key, count, color: hue(palette, index, found.groups.length) })),
    ...(found.others > 0 ? [{ key: 'others', count: found.others, color: palette.faint }] : []),
  ];
  let x = 16;
  return entries
    .map(({ key, count, color }) => {
      const words = `${key} ${count.toLocaleString('en')}`;
      const left = x;
      x += words.length * 7 + 30;
      if (x > view.width) return '';
      return (
        `<rect x="${n(left)}" y="${n(base + 44)}" width="10" height="10" rx="3" fill="${color}"/>` +
        text(left + 15, base + 53, words, `font-size="12" fill="${palette.ink}"`)
      );
    })
    .join('');
}

/** Renders an SVG as a PNG with `ratio` device pixels per SVG pixel. */
export async function asPng({ svg, height }: ReturnType<typeof picture>, width: number, ratio = 2): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, failed) =>
    canvas.toBlob((blob) => (blob ? done(blob) : failed(new Error('The PNG could not be created.'))), 'image/png'),
  );
}

/** Describes how many events a picture shows, and whether the count is incomplete. */
export const countNote = (count: number, isExact: boolean, isPart: boolean): string =>
  `${isExact ? '' : 'about '}${countText(count, 'event')}${isPart ? '; the rest is not counted yet' : ''}`;
