/**
 * Files that the first picture does without. Each is fetched when something needs it, and otherwise while nothing is
 * asked of the service: so that it is there when it is wanted, also when the service is away, and takes nothing from
 * what somebody waits for on a slow line.
 */
import { beginRequest, quiet } from './quiet';
import { unloaded } from './unloaded.svelte';

type Load<T> = () => Promise<T>;

const waiting: Load<unknown>[] = [];
let isFetching = false;

/**
 * Returns what fetches a part of the page, once; again where that failed. The part then never comes, and the page says
 * that something is missing: what waits for it in the markup needs no words of its own.
 */
export function later<T>(load: Load<T>): Load<T> {
  const fetched = laterOrThrow(load);
  let part: Promise<T> | null = null;
  return () =>
    (part ??= fetched().catch(() => {
      part = null;
      return new Promise<never>(() => {});
    }));
}

/** Returns the same for code, which has to go on without the file: it is told as well. */
export function laterOrThrow<T>(load: Load<T>): Load<T> {
  let loading: Promise<T> | null = null;
  const once = (): Promise<T> =>
    (loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    }));
  inQuiet(once);
  return async () => {
    const answered = beginRequest();
    try {
      const file = await once();
      unloaded.note(once, true);
      return file;
    } catch (cause) {
      unloaded.note(once, false);
      throw new Error('This part could not be loaded.', { cause });
    } finally {
      answered();
    }
  };
}

/** Has something fetched in a quiet moment. */
export function inQuiet(load: Load<unknown>): void {
  waiting.push(load);
}

/** Fetches what is waiting, one file after the other; first what came last, which belongs to what is looked at. */
export async function fetchWaiting(): Promise<void> {
  if (isFetching) return;
  isFetching = true;
  for (let load = waiting.pop(); load !== undefined; load = waiting.pop()) {
    await quiet();
    await new Promise((idle) =>
      'requestIdleCallback' in globalThis ? requestIdleCallback(idle) : setTimeout(idle, 200),
    );
    // Nobody wants it yet: who opens it is told.
    await load().catch(() => {});
  }
  isFetching = false;
}
