/** Where something floats above a chart that has flags: at the right, and further left where one stands there. */

/** How far it is from the edge and from a flag, and how wide a flag is, in pixels. */
const [EDGE, BESIDE, FLAG] = [8, 6, 16];

/** Returns how far from the right of a room something is that is on none of the flags. */
export function rightOf(flags: readonly number[], width: number, room: number): number {
  let right = EDGE;
  for (const x of [...flags].sort((a, b) => b - a)) {
    const isBeside = x + FLAG + BESIDE <= room - right - width || x - BESIDE >= room - right;
    if (!isBeside) right = room - x + BESIDE;
  }
  // Where flags stand everywhere, it is where one looks for it.
  return right + width + EDGE <= room ? right : EDGE;
}
