/** Places a floating button above a chart with flags: at the right, or further left if a flag is there. */

/** Distances from the edge and from a flag, the width of a flag, and half the width of the current time marker. */
const [EDGE, GAP, FLAG, HEAD_HALF] = [8, 6, 16, 6];
/** Maximum width of a letter and of a label, and the distance between a label and its line. */
const [LETTER, NAME_MAX, NAME_GAP] = [8, 220, 6];

/** A line with a label on the side that has more room. */
export interface LabeledLine {
  x: number;
  name: string;
}

/**
 * Returns the distance from the right edge at which a button of `width` overlaps no flags, the current time line or the
 * label of the selection.
 */
export function rightOf(
  flags: readonly number[],
  width: number,
  room: number,
  { now = null, chosen = null }: { now?: number | null; chosen?: LabeledLine | null } = {},
): number {
  const taken = flags.map((x) => ({ from: x, to: x + FLAG }));
  if (now !== null) taken.push({ from: now - HEAD_HALF, to: now + HEAD_HALF });
  if (chosen !== null) {
    const labelWidth = NAME_GAP + Math.min(chosen.name.length * LETTER, NAME_MAX);
    taken.push(
      chosen.x > room / 2
        ? { from: chosen.x - labelWidth, to: chosen.x }
        : { from: chosen.x, to: chosen.x + labelWidth },
    );
  }
  let right = EDGE;
  for (const { from, to } of taken.sort((a, b) => b.from - a.from)) {
    const isClear = to + GAP <= room - right - width || from - GAP >= room - right;
    if (!isClear) right = room - from + GAP;
  }
  // If there is no free place, use the default one.
  return right + width + EDGE <= room ? right : EDGE;
}
