/** Places the name chips of forks next to the start of their lines. */

/** Distance from the edge, distance from a line, and width of the curve at a fork. */
const [EDGE, GAP, CURVE] = [8, 6, 26];
/** Half the width of the now line. */
const NOW_HALF = 2;

interface Chips {
  /** Start of each lane's line, from top to bottom; null without a start. */
  begins: readonly (number | null)[];
  widths: readonly number[];
  room: number;
  now: number | null;
}

/** Returns the left offset of each chip in pixels. */
export function chipPlaces({ begins, widths, room, now }: Chips): number[] {
  return begins.map((begin, index) => {
    if (begin === null || begin < 0 || begin > room) return EDGE;
    const width = widths[index] ?? 0;
    // Curves of lower forks cross this lane.
    const passing = begins.slice(index + 1).flatMap((x) => (x === null ? [] : [{ from: x, to: x + CURVE }]));
    const lines = now === null ? passing : [...passing, { from: now - NOW_HALF, to: now + NOW_HALF }];
    const hides = (left: number) => lines.find(({ from, to }) => from < left + width && to > left);
    let left = begin - GAP - width;
    for (let line = hides(left); line && left >= EDGE; line = hides(left)) left = line.from - GAP - width;
    if (left >= EDGE) return left;
    left = begin + CURVE + GAP + 2;
    for (let line = hides(left); line && left + width <= room; line = hides(left)) left = line.to + GAP;
    return left + width <= room - EDGE ? left : EDGE;
  });
}
