/**
 * The first script of the page: asks who is logged in and which timelines there are, and for the files of the view that
 * the address names, while those that every view needs are on their way. It is a file of its own, without imports that
 * are not in it (`scripts/first-script.ts`), and the page is right without it.
 */
import { FIRST_SESSION, FIRST_TIMELINES, askFirst } from './lib/first-asked';

/** The files that each view needs beside those of every page, relative to the page. Written by the build. */
declare const VIEW_FILES: Partial<Record<string, readonly string[]>>;
/** The script of the worker that holds the streams. */
declare const WORKER_FILE: string;

function preload(files: readonly string[]): void {
  for (const file of files) {
    const link = document.createElement('link');
    link.rel = file.endsWith('.js') ? 'modulepreload' : 'preload';
    if (link.rel === 'preload') link.as = 'style';
    link.crossOrigin = '';
    link.href = `./${file}`;
    document.head.append(link);
  }
}

async function begin(): Promise<void> {
  const [view = ''] = location.hash.replace(/^#\/?/, '').split('?', 1);
  const { response } = await askFirst(FIRST_SESSION);
  const { user_id } = (await response.clone().json()) as { user_id?: string | null };
  const isKnown = typeof user_id === 'string';
  if (isKnown) void askFirst(FIRST_TIMELINES);
  const wanted = isKnown ? view || 'timeline' : 'log-in';
  // No link asks for a worker: it finds this in the cache.
  if (isKnown) void fetch(`./${WORKER_FILE}`).catch(() => {});
  preload(VIEW_FILES[wanted] ?? []);
}

// The page asks again for what failed.
begin().catch(() => {});
