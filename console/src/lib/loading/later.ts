/**
 * Lazily loaded modules. A module loads when it is needed, or else while no requests are pending. It is then available
 * even if the service becomes unreachable, and does not compete with requests on slow connections.
 */
import { beginRequest, networkIdle } from './network-idle';
import { missingFiles } from './missing-files.svelte';

type Loader<T> = () => Promise<T>;

const waiting: Loader<unknown>[] = [];
let isFetching = false;

/**
 * Returns a function that loads a module once and retries after failures. On failure its promise stays pending and the
 * page reports missing files, so `{#await}` blocks need no error branch.
 */
export function later<T>(load: Loader<T>): Loader<T> {
  const fetched = loadOrThrow(load);
  let part: Promise<T> | null = null;
  return () =>
    (part ??= fetched().catch(() => {
      part = null;
      return new Promise<never>(() => {});
    }));
}

/** Like `later`, but rejects on failure, for code that must continue without the module. */
export function loadOrThrow<T>(load: Loader<T>): Loader<T> {
  let loading: Promise<T> | null = null;
  const once = (): Promise<T> =>
    (loading ??= load().catch((error: unknown) => {
      loading = null;
      throw error;
    }));
  queueLoad(once);
  return async () => {
    const endRequest = beginRequest();
    try {
      const file = await once();
      missingFiles.note(once, true);
      return file;
    } catch (cause) {
      missingFiles.note(once, false);
      throw new Error('This part could not be loaded.', { cause });
    } finally {
      endRequest();
    }
  };
}

/** Queues a module for loading while no requests are pending. */
export function queueLoad(load: Loader<unknown>): void {
  waiting.push(load);
}

/** Loads queued modules one by one. The most recent first, since it belongs to the current view. */
export async function loadQueued(): Promise<void> {
  if (isFetching) return;
  isFetching = true;
  for (let load = waiting.pop(); load !== undefined; load = waiting.pop()) {
    await networkIdle();
    await new Promise((idle) =>
      'requestIdleCallback' in globalThis ? requestIdleCallback(idle) : setTimeout(idle, 200),
    );
    // A failure is reported when the module is needed.
    await load().catch(() => {});
  }
  isFetching = false;
}
