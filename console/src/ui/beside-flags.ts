/** Where something floats above a chart that has flags: at the right, and further left where one stands there. */

/** How far it is from the edge and from a flag, how wide a flag is, and half of the head of the line of now. */
const [EDGE, BESIDE, FLAG, HEAD_HALF] = [8, 6, 16, 6];

/** Returns how far from the right of a room something is that is on none of the flags, nor on the line of now. */
export function rightOf(flags: readonly number[], width: number, room: number, now: number | null = null): number {
  const taken = flags.map((x) => ({ from: x, to: x + FLAG }));
  if (now !== null) taken.push({ from: now - HEAD_HALF, to: now + HEAD_HALF });
  let right = EDGE;
  for (const { from, to } of taken.sort((a, b) => b.from - a.from)) {
    const isBeside = to + BESIDE <= room - right - width || from - BESIDE >= room - right;
    if (!isBeside) right = room - from + BESIDE;
  }
  // Where flags stand everywhere, it is where one looks for it.
  return right + width + EDGE <= room ? right : EDGE;
}
