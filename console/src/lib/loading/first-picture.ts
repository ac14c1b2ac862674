/**
 * A preview of a timeline's event counts. The first script of the page draws it while the console loads slowly, until
 * the axis replaces it. It has no style sheet because that is still loading.
 */
import { address } from '../service/base';

const PICTURE = 'first-picture';
const BARS = 100;
/** Expected position of the axis in pixels from the window edges, to the right of the navigation or below it. */
const WIDE_FROM = 900;
const PLACES = { wide: { left: 233, right: 25, top: 224 }, narrow: { left: 15, right: 15, top: 288 } };
const HEIGHT = 250;
/** Distance from the top of the axis to the base line, and height of the tallest bar. */
const BASE = 137;
const TALLEST = 78;
/** Free part of the axis before the first and after the last event. */
const MARGIN = 0.04;
/** Range of years that JavaScript dates support. */
const YEARS = 270_000;
/** Lifetime in milliseconds if the axis never appears. */
const STAYS_MS = 30_000;
const SVG = 'http://www.w3.org/2000/svg';

interface FirstCounts {
  count: number;
  groups: readonly { key: string; end?: string | null; count: number }[];
  next_cursor?: string | null;
}

interface Bar {
  /** Center, from 0 at the first event to 1 at the last. */
  at: number;
  /** Height, relative to the tallest bar. */
  height: number;
}

interface Picture {
  bars: Bar[];
  from: string;
  to: string;
  spanMs: number;
  /** End of the counted part, from 0 at the first event to 1 at the last. */
  until: number;
  count: number;
  /** Event count of the tallest bar. */
  most: number;
}

/** Returns a timestamp in milliseconds, or NaN. */
const millis = (text: string): number => (Math.abs(parseInt(text, 10)) < YEARS ? Date.parse(text) : NaN);

/**
 * Converts the responses received so far to bars. Returns null if there are no counts, or a time is out of range for
 * dates. `last` is the time of the last event, for incomplete counts.
 */
export function pictureOf(responses: readonly FirstCounts[], last: string | null = null): Picture | null {
  const groups = responses.flatMap((response) => response.groups);
  const [first, end] = [groups[0], groups.at(-1)];
  const isCut = Boolean(responses.at(-1)?.next_cursor);
  if (!first || !end || (isCut && last === null)) return null;
  const counted = end.end ?? end.key;
  const [from, to] = [first.key, (isCut ? last : null) ?? counted];
  const begin = millis(from);
  const spanMs = millis(to) - begin;
  if (!Number.isFinite(spanMs)) return null;
  const part = (ms: number): number => (spanMs > 0 ? Math.min((ms - begin) / spanMs, 1) : 0.5);
  // Buckets of different responses have different lengths; bars are equally wide.
  const counts = new Array<number>(BARS).fill(0);
  for (const { key, end: stop, count } of groups) {
    const bar = Math.min(Math.floor(part((millis(key) + millis(stop ?? key)) / 2) * BARS), BARS - 1);
    counts[bar] = (counts[bar] ?? 0) + count;
  }
  const most = Math.max(...counts);
  return {
    bars: counts.flatMap((count, bar) => (count === 0 ? [] : [{ at: (bar + 0.5) / BARS, height: count / most }])),
    from,
    to,
    spanMs,
    until: isCut ? part(millis(counted)) : 1,
    count: responses.reduce((sum, { count }) => sum + count, 0),
    most,
  };
}

/** Returns a time with a precision that fits a preview of `spanMs`. */
export function timeLabel(text: string, spanMs: number): string {
  const day = 86_400_000;
  const year = parseInt(text, 10);
  if (spanMs > 1_000 * day || year < 1) return year < 1 ? `${1 - year} BCE` : String(year);
  return spanMs > 3 * day ? text.slice(0, 10) : `${text.slice(0, 10)} ${text.slice(11, 16)}`;
}

/** Returns the timeline that a URL shows in full; null for other views and partial ranges. */
export function wholeTimeline(hash: string): string | null {
  const [view, query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const params = new URLSearchParams(query);
  return view === 'timeline' && [...params.keys()].join() === 'timeline' ? params.get('timeline') : null;
}

/** Creates a label at a distance from the top, on the left or the right. */
function label(text: string, top: number, side: 'left' | 'right' = 'left'): HTMLElement {
  const words = document.createElement('span');
  words.textContent = text;
  Object.assign(words.style, { position: 'absolute', top: `${top}px`, [side]: '12px' });
  return words;
}

function rectangle(numbers: Record<'x' | 'y' | 'width' | 'height', number>): SVGElement {
  const element = document.createElementNS(SVG, 'rect');
  for (const [name, value] of Object.entries(numbers)) element.setAttribute(name, value.toFixed(2));
  return element;
}

function drawBars({ bars, until }: Picture): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', `0 0 ${BARS} ${TALLEST}`);
  svg.setAttribute('preserveAspectRatio', 'none');
  Object.assign(svg.style, { display: 'block', width: '100%', height: `${TALLEST}px` });
  const across = (at: number): number => BARS * (MARGIN + at * (1 - 2 * MARGIN));
  for (const { at, height } of bars) {
    const barHeight = Math.max(height * TALLEST, 1);
    svg.append(rectangle({ x: across(at) - 0.4, y: TALLEST - barHeight, width: 0.8, height: barHeight }));
  }
  if (until < 1) {
    // The uncounted part must not appear empty.
    const missing = rectangle({ x: across(until), y: 0, width: across(1) - across(until), height: TALLEST });
    Object.assign(missing.style, { fill: 'currentColor', opacity: '0.15' });
    svg.append(missing);
  }
  return svg;
}

/** Sends a request about a timeline; null if it fails. */
async function request<T>(timeline: string, what: string, params: Record<string, string>): Promise<T | null> {
  const response = await fetch(address(what, { timeline_id: timeline, ...params }), { cache: 'no-store' });
  return response.ok ? ((await response.json()) as T) : null;
}

/** Returns the time of the last event, or null. */
async function lastTime(timeline: string): Promise<string | null> {
  const query = { location: '*', time_range: '../..', limit: '1', order: 'newest' };
  const page = await request<{ events: { time: string }[] }>(timeline, 'v1/monitor-events', query);
  return page?.events[0]?.time ?? null;
}

/**
 * Requests event counts and draws the preview, unless the console has loaded by then. For very many events, a response
 * counts only the first ones: they are drawn, and the rest is requested afterwards.
 */
export async function drawFirstPicture(
  timeline: string,
  isNeeded: () => boolean,
  before: readonly FirstCounts[] = [],
  lastAt: string | null = null,
): Promise<void> {
  const cursor = before.at(-1)?.next_cursor ?? '';
  const query = { group_by: 'time', bucket: String(BARS), limit: '1000', cursor };
  const counts = await request<FirstCounts>(timeline, 'v1/aggregate-events', query);
  if (counts === null) return;
  const responses = [...before, counts];
  const last = lastAt ?? (counts.next_cursor ? await lastTime(timeline) : null);
  const picture = pictureOf(responses, last);
  if (picture === null || !isNeeded()) return;
  show(picture);
  if (counts.next_cursor) drawFirstPicture(timeline, isNeeded, responses, last).catch(() => {});
}

function show(drawing: Picture): void {
  const before = document.getElementById(PICTURE);
  const picture = document.createElement('div');
  picture.id = PICTURE;
  // The axis provides this information to screen readers.
  picture.ariaHidden = 'true';
  const { left, right, top } = PLACES[innerWidth >= WIDE_FROM ? 'wide' : 'narrow'];
  Object.assign(picture.style, {
    position: 'fixed',
    inset: `${top}px ${right}px auto ${left}px`,
    height: `${HEIGHT}px`,
    boxSizing: 'border-box',
    paddingTop: `${BASE - TALLEST}px`,
    pointerEvents: 'none',
    colorScheme: localStorage.getItem('timenav-theme') ?? 'light dark',
    background: 'light-dark(#ffffff, #151a23)',
    color: 'light-dark(#5a6070, #9aa4b5)',
    fill: 'light-dark(#3c4bc9, #93a5ff)',
    font: '13px/20px system-ui, sans-serif',
  });
  const line = document.createElement('div');
  Object.assign(line.style, { borderTop: '1px solid', opacity: '0.5' });
  const events = drawing.count === 1 ? 'event' : 'events';
  picture.append(
    label(`${drawing.count.toLocaleString('en')} ${events}${drawing.until < 1 ? ' so far' : ''}`, 8),
    label(`at most ${drawing.most.toLocaleString('en')} in a bar`, 8, 'right'),
    drawBars(drawing),
    line,
    label(timeLabel(drawing.from, drawing.spanMs), BASE + 6),
    label(timeLabel(drawing.to, drawing.spanMs), BASE + 6, 'right'),
  );
  if (before !== null) {
    before.replaceWith(picture);
    return;
  }
  document.body.append(picture);
  addEventListener('hashchange', endFirstPicture, { once: true });
  setTimeout(endFirstPicture, STAYS_MS);
}

/** Moves the preview into the axis until the axis draws itself. */
export function placeFirstPicture(axis: HTMLElement): void {
  const picture = document.getElementById(PICTURE);
  if (picture === null || axis.contains(picture)) return;
  Object.assign(picture.style, { position: 'absolute', inset: '0', height: 'auto' });
  axis.append(picture);
}

export function endFirstPicture(): void {
  document.getElementById(PICTURE)?.remove();
}
