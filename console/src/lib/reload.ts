/** Loading the page anew once the service is back, for the files that it lacks. */

/** A service that shuts down may answer a request after it has closed the stream. It is gone when this is over. */
export const SETTLE_MS = 1_000;

/**
 * Reloads the page if `isWanted` still says so after a while and the service answers. A page that is reloaded without a
 * service is lost: nothing of it is left that could connect again.
 */
export async function reloadOnceBack(isWanted: () => boolean): Promise<void> {
  await new Promise((settled) => setTimeout(settled, SETTLE_MS));
  if (!isWanted()) return;
  const response = await fetch('.', { cache: 'no-store' }).catch(() => null);
  if (response?.ok && isWanted()) location.reload();
}
