/** Reloads the page when the service is back, to fetch missing files. */

/** During shutdown, a service may still respond after it has closed the stream. This delay outlasts that. */
export const SETTLE_MS = 1_000;

/**
 * Reloads the page if the service responds and `isNeeded` still returns true after the delay. If the service were down,
 * the browser would show its own error page, which never reconnects.
 */
export async function reloadOnceBack(isNeeded: () => boolean): Promise<void> {
  await new Promise((settled) => setTimeout(settled, SETTLE_MS));
  if (!isNeeded()) return;
  const response = await fetch('.', { cache: 'no-store' }).catch(() => null);
  if (response?.ok && isNeeded()) location.reload();
}
