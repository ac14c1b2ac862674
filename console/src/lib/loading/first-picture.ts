/**
 * The first picture of a timeline: how many events there are along its time. The first script of the page draws it
 * where the files of the console take long to come, and the axis takes its place. It needs no styles: those are on
 * their way.
 */
import { address } from '../service/base';

const PICTURE = 'first-picture';
const BARS = 100;
/** Where the axis is going to be, in pixels from the edges of the window: beside the navigation, or above it. */
const WIDE_FROM = 900;
const PLACES = { wide: { left: 233, right: 25, top: 224 }, narrow: { left: 15, right: 15, top: 288 } };
const HEIGHT = 250;
/** From the top of the axis to the line that bars stand on, and how tall the tallest is. */
const BASE = 137;
const TALLEST = 78;
/** How much of the axis stays free on either side of all events. */
const MARGIN = 0.04;
/** Years before and after which dates of JavaScript cannot be relied upon. */
const YEARS = 270_000;
/** For so long it stays, in milliseconds, where no axis comes. */
const STAYS_MS = 30_000;
const SVG = 'http://www.w3.org/2000/svg';

export interface FirstCounts {
  count: number;
  groups: readonly { key: string; end?: string | null; count: number }[];
  next_cursor?: string | null;
}

export interface Bar {
  /** Its middle, from 0 at the first event to 1 at the last. */
  at: number;
  /** How tall it is, with 1 for the tallest. */
  height: number;
}

export interface Picture {
  bars: Bar[];
  from: string;
  to: string;
  spanMs: number;
  /** Up to where it is counted, from 0 at the first event to 1 at the last. */
  until: number;
  count: number;
  /** How many events the tallest bar stands for. */
  most: number;
}

/** Returns a time in milliseconds, or NaN. */
const millis = (text: string): number => (Math.abs(parseInt(text, 10)) < YEARS ? Date.parse(text) : NaN);

/**
 * Returns what the counts of the answers that came so far look like; null where nothing is counted, or a time is beyond
 * what dates can say. Where not all is counted, `last` says when the last event happens.
 */
export function pictureOf(answers: readonly FirstCounts[], last: string | null = null): Picture | null {
  const groups = answers.flatMap((answer) => answer.groups);
  const [first, end] = [groups[0], groups.at(-1)];
  const isCut = Boolean(answers.at(-1)?.next_cursor);
  if (!first || !end || (isCut && last === null)) return null;
  const counted = end.end ?? end.key;
  const [from, to] = [first.key, (isCut ? last : null) ?? counted];
  const begin = millis(from);
  const spanMs = millis(to) - begin;
  if (!Number.isFinite(spanMs)) return null;
  const part = (ms: number): number => (spanMs > 0 ? Math.min((ms - begin) / spanMs, 1) : 0.5);
  // The stretches of an answer are as long as its events need; bars are all as wide.
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
    count: answers.reduce((sum, { count }) => sum + count, 0),
    most,
  };
}

/** Returns what to call a time, as exactly as a picture of so many milliseconds shows it. */
export function calledTime(text: string, spanMs: number): string {
  const day = 86_400_000;
  const year = parseInt(text, 10);
  if (spanMs > 1_000 * day || year < 1) return year < 1 ? `${1 - year} BCE` : String(year);
  return spanMs > 3 * day ? text.slice(0, 10) : `${text.slice(0, 10)} ${text.slice(11, 16)}`;
}

/** Returns which timeline an address shows as a whole; null for any other view, and where only a part is shown. */
export function wholeTimeline(hash: string): string | null {
  const [view, query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const params = new URLSearchParams(query);
  return view === 'timeline' && [...params.keys()].join() === 'timeline' ? params.get('timeline') : null;
}

/** Writes something on the picture: so far from its top, at its left or its right. */
function written(text: string, top: number, side: 'left' | 'right' = 'left'): HTMLElement {
  const words = document.createElement('span');
  words.textContent = text;
  Object.assign(words.style, { position: 'absolute', top: `${top}px`, [side]: '12px' });
  return words;
}

function rectangle(numbers: Record<'x' | 'y' | 'width' | 'height', number>): SVGElement {
  const made = document.createElementNS(SVG, 'rect');
  for (const [name, value] of Object.entries(numbers)) made.setAttribute(name, value.toFixed(2));
  return made;
}

function drawn({ bars, until }: Picture): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', `0 0 ${BARS} ${TALLEST}`);
  svg.setAttribute('preserveAspectRatio', 'none');
  Object.assign(svg.style, { display: 'block', width: '100%', height: `${TALLEST}px` });
  const across = (at: number): number => BARS * (MARGIN + at * (1 - 2 * MARGIN));
  for (const { at, height } of bars) {
    const tall = Math.max(height * TALLEST, 1);
    svg.append(rectangle({ x: across(at) - 0.4, y: TALLEST - tall, width: 0.8, height: tall }));
  }
  if (until < 1) {
    // What is not counted yet is not empty.
    const missing = rectangle({ x: across(until), y: 0, width: across(1) - across(until), height: TALLEST });
    Object.assign(missing.style, { fill: 'currentColor', opacity: '0.15' });
    svg.append(missing);
  }
  return svg;
}

/** Asks the service for something of a timeline; null where it does not answer that. */
async function askOf<T>(timeline: string, what: string, params: Record<string, string>): Promise<T | null> {
  const answer = await fetch(address(what, { timeline_id: timeline, ...params }), { cache: 'no-store' });
  return answer.ok ? ((await answer.json()) as T) : null;
}

/** Returns when the last event of a timeline happens, or null. */
async function lastTime(timeline: string): Promise<string | null> {
  const query = { location: '*', time_range: '../..', limit: '1', order: 'newest' };
  const page = await askOf<{ events: { time: string }[] }>(timeline, 'v1/monitor-events', query);
  return page?.events[0]?.time ?? null;
}

/**
 * Asks how many events there are along the time of a timeline, and draws it, unless the console is there by then. Of
 * very many events an answer counts only the first ones: those are drawn, and then, after this is done, the next.
 */
export async function drawFirstPicture(
  timeline: string,
  isNeeded: () => boolean,
  before: readonly FirstCounts[] = [],
  lastAt: string | null = null,
): Promise<void> {
  const cursor = before.at(-1)?.next_cursor ?? '';
  const query = { group_by: 'time', bucket: String(BARS), limit: '1000', cursor };
  const counts = await askOf<FirstCounts>(timeline, 'v1/aggregate-events', query);
  if (counts === null) return;
  const answers = [...before, counts];
  const last = lastAt ?? (counts.next_cursor ? await lastTime(timeline) : null);
  const picture = pictureOf(answers, last);
  if (picture === null || !isNeeded()) return;
  show(picture);
  if (counts.next_cursor) drawFirstPicture(timeline, isNeeded, answers, last).catch(() => {});
}

function show(drawing: Picture): void {
  const before = document.getElementById(PICTURE);
  const picture = document.createElement('div');
  picture.id = PICTURE;
  // The axis says the same in words, and more.
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
    written(`${drawing.count.toLocaleString('en')} ${events}${drawing.until < 1 ? ' so far' : ''}`, 8),
    written(`at most ${drawing.most.toLocaleString('en')} in a bar`, 8, 'right'),
    drawn(drawing),
    line,
    written(calledTime(drawing.from, drawing.spanMs), BASE + 6),
    written(calledTime(drawing.to, drawing.spanMs), BASE + 6, 'right'),
  );
  if (before !== null) {
    before.replaceWith(picture);
    return;
  }
  document.body.append(picture);
  addEventListener('hashchange', endFirstPicture, { once: true });
  setTimeout(endFirstPicture, STAYS_MS);
}

/** Puts the first picture on the axis, until that has its own. */
export function placeFirstPicture(axis: HTMLElement): void {
  const picture = document.getElementById(PICTURE);
  if (picture === null || axis.contains(picture)) return;
  Object.assign(picture.style, { position: 'absolute', inset: '0', height: 'auto' });
  axis.append(picture);
}

export function endFirstPicture(): void {
  document.getElementById(PICTURE)?.remove();
}
