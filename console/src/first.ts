/**
 * The first script of the page. Requests the session and the timelines, and preloads the files of the current view
 * while the shared ones load. On slow connections, draws a preview of the timeline. It is a separate bundle without
 * external imports (`scripts/first-script.ts`), and the page works without it.
 */
import { FIRST_SESSION, FIRST_TIMELINES, sendEarly, type EarlyResponse } from './lib/loading/first-requests';
import { drawFirstPicture, wholeTimeline } from './lib/loading/first-picture';

/** Time in milliseconds after navigation start from which a page without content counts as slow. */
const SLOW_MS = 350;

/** Files of views that not every page needs, relative to the page. Written by the build. */
declare const FILES: readonly string[];
/** Indices of the files that each view needs. */
declare const VIEW_FILES: Partial<Record<string, readonly number[]>>;
/** The script of the worker that holds the streams. */
declare const WORKER_FILE: string;

function preload(view: string): void {
  for (const number of VIEW_FILES[view] ?? []) {
    const file = FILES[number] ?? '';
    const link = document.createElement('link');
    link.rel = file.endsWith('.js') ? 'modulepreload' : 'preload';
    if (link.rel === 'preload') link.as = 'style';
    link.crossOrigin = '';
    link.href = `./${file}`;
    document.head.append(link);
  }
}

/** Returns whether a user is logged in. */
async function isKnown({ response }: EarlyResponse): Promise<boolean> {
  const { user_id } = (await response.clone().json()) as { user_id?: string | null };
  return typeof user_id === 'string';
}

async function begin(): Promise<void> {
  const [view = ''] = location.hash.replace(/^#\/?/, '').split('?', 1);
  const known = sendEarly(FIRST_SESSION).then(isKnown);
  // Registered before the session is known, because the page may need the response at any moment.
  sendEarly(FIRST_TIMELINES, known).catch(() => {});
  const firstView = (await known) ? view || 'timeline' : 'login';
  const timeline = wholeTimeline(location.hash);
  if ((await known) && timeline !== null) {
    // The axis is not rendered yet, and the user has not navigated.
    const isNeeded = (): boolean =>
      document.querySelector('.axis') === null && wholeTimeline(location.hash) === timeline;
    const draw = async (): Promise<void> => {
      if (isNeeded()) await drawFirstPicture(timeline, isNeeded).catch(() => {});
    };
    const wait = SLOW_MS - performance.now();
    if (wait > 0) setTimeout(() => void draw(), wait);
    // Drawn before preloading the view: browsers have few connections per host, and preloads would occupy them all.
    // Until then, the shared files keep the connection busy.
    else await draw();
  }
  preload(firstView);
  // Workers cannot be preloaded with a link, so fetch the script into the cache.
  if (await known) void fetch(`./${WORKER_FILE}`).catch(() => {});
}

// The page repeats failed requests.
begin().catch(() => {});
