/** Where the names of forks stand: beside the places where their lines begin. */

/** How far a name is from the edge and from a line, and how wide the curve is in which a fork leaves its line. */
const [EDGE, GAP, CURVE] = [8, 6, 26];
/** Half of what the line of now takes. */
const NOW_HALF = 2;

export interface Chips {
  /** Where the line of each lane begins, from above to below; null where it does not begin in sight of anything. */
  begins: readonly (number | null)[];
  widths: readonly number[];
  room: number;
  now: number | null;
}

/** Returns how far from the left each name is. All in pixels. */
export function chipPlaces({ begins, widths, room, now }: Chips): number[] {
  return begins.map((begin, index) => {
    if (begin === null || begin < 0 || begin > room) return EDGE;
    const width = widths[index] ?? 0;
    // The ways to the forks below pass it.
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
