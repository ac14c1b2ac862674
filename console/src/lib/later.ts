/**
 * Files that the first picture does without. Each is fetched when something needs it, and otherwise while nothing is
 * asked of the service: so that it is there when it is wanted, also when the service is away, and takes nothing from
 * what somebody waits for on a slow line.
 */
import { quiet } from './quiet';

type Load<T> = () => Promise<T>;

const waiting: Load<unknown>[] = [];
let isFetching = false;

/** Returns what fetches a file, once; again where that failed. */
export function later<T>(load: Load<T>): Load<T> {
  let loading: Promise<T> | null = null;
  const once = (): Promise<T> =>
    (loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    }));
  inQuiet(once);
  return once;
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
    // The service is away: who opens that is told.
    await load().catch(() => {});
  }
  isFetching = false;
}
