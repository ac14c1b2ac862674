/**
 * The first picture of a timeline: how many events there are along its time. The first script of the page draws it
 * where the files of the console take long to come, and the axis takes its place. It needs no styles: those are on
 * their way.
 */
import { address } from './base';

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
  groups: readonly { key: string; until?: string | null; count: number }[];
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
  /** How many events the tallest bar stands for. */
  most: number;
}

/** Returns a time in milliseconds, or NaN. */
const millis = (text: string): number => (Math.abs(parseInt(text, 10)) < YEARS ? Date.parse(text) : NaN);

/** Returns what counts look like; null where nothing is counted, or not all, or a time is beyond what dates can say. */
export function pictureOf({ groups, next_cursor }: FirstCounts): Picture | null {
  const [first, last] = [groups[0], groups.at(-1)];
  if (!first || !last || next_cursor) return null;
  const [from, to] = [first.key, last.until ?? last.key];
  const begin = millis(from);
  const spanMs = millis(to) - begin;
  if (!Number.isFinite(spanMs)) return null;
  const most = Math.max(...groups.map(({ count }) => count));
  const bars = groups.map(({ key, until, count }) => {
    const middle = (millis(key) + millis(until ?? key)) / 2;
    return { at: spanMs > 0 ? (middle - begin) / spanMs : 0.5, height: count / most };
  });
  return { bars, from, to, spanMs, most };
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

function drawn(bars: readonly Bar[]): SVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', `0 0 ${BARS} ${TALLEST}`);
  svg.setAttribute('preserveAspectRatio', 'none');
  Object.assign(svg.style, { display: 'block', width: '100%', height: `${TALLEST}px` });
  for (const { at, height } of bars) {
    const bar = document.createElementNS(SVG, 'rect');
    const tall = Math.max(height * TALLEST, 1);
    const x = BARS * (MARGIN + at * (1 - 2 * MARGIN)) - 0.4;
    const numbers = { x, y: TALLEST - tall, width: 0.8, height: tall };
    for (const [name, value] of Object.entries(numbers)) bar.setAttribute(name, value.toFixed(2));
    svg.append(bar);
  }
  return svg;
}

/** Asks how many events there are along the time of a timeline, and draws it, unless the console is there by then. */
export async function drawFirstPicture(timeline: string, isWanted: () => boolean): Promise<void> {
  const query = new URLSearchParams({ timeline_id: timeline, by: 'time', bucket: String(BARS), limit: '1000' });
  const answer = await fetch(address(`v1/aggregate-events?${query}`), { cache: 'no-store' });
  if (!answer.ok) return;
  const counts = (await answer.json()) as FirstCounts;
  const shown = pictureOf(counts);
  if (shown === null || !isWanted()) return;
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
  picture.append(
    written(`${counts.count.toLocaleString('en')} ${counts.count === 1 ? 'event' : 'events'}`, 8),
    written(`at most ${shown.most.toLocaleString('en')} in a bar`, 8, 'right'),
    drawn(shown.bars),
    line,
    written(calledTime(shown.from, shown.spanMs), BASE + 6),
    written(calledTime(shown.to, shown.spanMs), BASE + 6, 'right'),
  );
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
