/** Whether anything is asked of the service: what nobody waits for is fetched while nothing is. */

/** Nothing was asked for so long. */
const REST_MS = 300;
/** Who asks all the time does not keep the rest away. */
const BUSY_MAX_MS = 15_000;

let asking = 0;
let lastAt = 0;

/** Notes that something is asked, or about to be; call what it returns once the answer is there. */
export function beginRequest(): () => void {
  asking += 1;
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    asking -= 1;
    lastAt = performance.now();
  };
}

/** Waits until nothing has been asked for a while. */
export async function quiet(): Promise<void> {
  const limit = performance.now() + BUSY_MAX_MS;
  for (let now = performance.now(); now < limit; now = performance.now()) {
    const wait = asking > 0 ? REST_MS : lastAt + REST_MS - now;
    if (wait <= 0) return;
    await new Promise((rested) => setTimeout(rested, wait));
  }
}
