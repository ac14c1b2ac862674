/** Where something floats above a chart that has flags: at the right, and further left where one stands there. */

/** How far it is from the edge and from a flag, how wide a flag is, and half of the head of the line of now. */
const [EDGE, GAP, FLAG, HEAD_HALF] = [8, 6, 16, 6];
/** How wide a letter of a name is at most, and a name, and what is between it and its line. */
const [LETTER, NAME_MAX, NAME_GAP] = [8, 220, 6];

/** A line with a name beside it: on the side where there is more room. */
export interface Named {
  x: number;
  name: string;
}

/**
 * Returns how far from the right of a room something is that is on none of the flags, nor on the line of now, nor on
 * the name of what is chosen.
 */
export function rightOf(
  flags: readonly number[],
  width: number,
  room: number,
  { now = null, chosen = null }: { now?: number | null; chosen?: Named | null } = {},
): number {
  const taken = flags.map((x) => ({ from: x, to: x + FLAG }));
  if (now !== null) taken.push({ from: now - HEAD_HALF, to: now + HEAD_HALF });
  if (chosen !== null) {
    const wide = NAME_GAP + Math.min(chosen.name.length * LETTER, NAME_MAX);
    taken.push(chosen.x > room / 2 ? { from: chosen.x - wide, to: chosen.x } : { from: chosen.x, to: chosen.x + wide });
  }
  let right = EDGE;
  for (const { from, to } of taken.sort((a, b) => b.from - a.from)) {
    const isClear = to + GAP <= room - right - width || from - GAP >= room - right;
    if (!isClear) right = room - from + GAP;
  }
  // Where flags stand everywhere, it is where one looks for it.
  return right + width + EDGE <= room ? right : EDGE;
}
