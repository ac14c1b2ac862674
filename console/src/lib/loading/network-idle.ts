/** Tracks pending requests, so that preloading can wait until there are none. */

/** Idle time after the last request. */
const REST_MS = 300;
/** Upper limit of the wait if requests never stop. */
const BUSY_MAX_MS = 15_000;

let pending = 0;
let lastAt = 0;

/** Marks a request as pending. Call the returned function when it completes. */
export function beginRequest(): () => void {
  pending += 1;
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    pending -= 1;
    lastAt = performance.now();
  };
}

/** Waits until no request has been pending for `REST_MS`. */
export async function networkIdle(): Promise<void> {
  const limit = performance.now() + BUSY_MAX_MS;
  for (let now = performance.now(); now < limit; now = performance.now()) {
    const wait = pending > 0 ? REST_MS : lastAt + REST_MS - now;
    if (wait <= 0) return;
    await new Promise((rested) => setTimeout(rested, wait));
  }
}
