/** Where the marks of anchors stand on an axis that has now in its middle. */
import type { Micros } from '../../lib/instant';

/** Up to here the axis is about even; beyond, each tenfold distance takes an equal step. */
const EVEN_MICROS = 60_000_000;

/** How much of the axis a name takes. */
const NAME_ROOM = 0.13;

/**
 * Returns the greatest distance of the axis for these distances from now: at least two days, so that marks do not jump
 * about at once.
 */
export function axisReach(distances: readonly bigint[]): number {
  return distances.reduce((reach, each) => Math.max(reach, Math.abs(Number(each))), 172_800_000_000);
}

/** Returns where a mark stands, from 0 (the farthest past) over 0.5 (now) to 1. */
export function axisPlace(away: bigint, reach: number): number {
  const size = Math.log1p(Math.abs(Number(away)) / EVEN_MICROS) / Math.log1p(reach / EVEN_MICROS);
  return 0.5 + (away < 0n ? -0.5 : 0.5) * Math.min(1, size);
}

/** Returns the distances that are labelled on an axis of that reach. */
export function axisTicks(reach: number): { micros: bigint; name: string }[] {
  const all: [number, string][] = [
    [60, '1 min'],
    [3_600, '1 h'],
    [86_400, '1 day'],
    [2_629_746, '1 month'],
    [31_556_952, '1 year'],
    [3_155_695_200, '100 years'],
    [31_556_952_000, '1,000 years'],
  ];
  const fit = all.filter(([seconds]) => seconds * 1_000_000 <= reach * 0.8);
  const ticks: { micros: bigint; name: string }[] = [];
  let outer = Infinity;
  // From the farthest inward, as long as their names have room beside each other.
  for (const [seconds, name] of [...fit].reverse()) {
    const micros = BigInt(seconds) * 1_000_000n;
    const place = axisPlace(micros, reach);
    if (outer - place < NAME_ROOM || place - 0.5 < NAME_ROOM) continue;
    ticks.push({ micros, name });
    outer = place;
  }
  return ticks;
}

/** Returns a distance in time as an end of a sentence. */
export function relation(away: Micros, words: (micros: bigint) => string): string {
  if (away > -1_000_000n && away < 1_000_000n) return 'now';
  return away < 0n ? `${words(away)} ago` : `in ${words(away)}`;
}
