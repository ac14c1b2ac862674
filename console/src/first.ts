/**
 * The first script of the page: asks who is logged in and which timelines there are, and for the files of the view that
 * the address names, while those that every view needs are on their way. Where they take long, it draws how many events
 * the timeline has along its time. It is a file of its own, without imports that are not in it
 * (`scripts/first-script.ts`), and the page is right without it.
 */
import { FIRST_SESSION, FIRST_TIMELINES, askFirst, type FirstAnswer } from './lib/loading/first-requests';
import { drawFirstPicture, wholeTimeline } from './lib/loading/first-picture';

/** The line is slow if nothing of the console is shown so long after the page was asked for, in milliseconds. */
const SLOW_MS = 350;

/** The files that views need beside those of every page, relative to the page. Written by the build. */
declare const FILES: readonly string[];
/** Which of them each view needs. */
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

/** Returns whether somebody is logged in. */
async function isKnown({ response }: FirstAnswer): Promise<boolean> {
  const { user_id } = (await response.clone().json()) as { user_id?: string | null };
  return typeof user_id === 'string';
}

async function begin(): Promise<void> {
  const [view = ''] = location.hash.replace(/^#\/?/, '').split('?', 1);
  const known = askFirst(FIRST_SESSION).then(isKnown);
  // Noted before it is asked: the page may want it in the same moment.
  askFirst(FIRST_TIMELINES, known).catch(() => {});
  const firstView = (await known) ? view || 'timeline' : 'login';
  const timeline = wholeTimeline(location.hash);
  if ((await known) && timeline !== null) {
    // The axis is not there, and nobody went elsewhere.
    const isNeeded = (): boolean =>
      document.querySelector('.axis') === null && wholeTimeline(location.hash) === timeline;
    const draw = async (): Promise<void> => {
      if (isNeeded()) await drawFirstPicture(timeline, isNeeded).catch(() => {});
    };
    const wait = SLOW_MS - performance.now();
    if (wait > 0) setTimeout(() => void draw(), wait);
    // Before the files of the view: a browser has few connections to one host, and these would keep them all. The line
    // has enough to do until then, with the files of every view.
    else await draw();
  }
  preload(firstView);
  // No link asks for a worker: it finds this in the cache.
  if (await known) void fetch(`./${WORKER_FILE}`).catch(() => {});
}

// The page asks again for what failed.
begin().catch(() => {});
