/** Where the marks of anchors stand on an axis that has now in its middle. */
import type { Micros } from '../../../lib/time/instant';

/** Up to here a logarithmic axis is about even; beyond, each tenfold distance takes an equal step. */
const EVEN_MICROS = 60_000_000;

/** How much of the axis a name takes. */
const NAME_ROOM = 0.13;

/** How far an axis reaches from now to either side, and on which scale: linear, unless one asks for the other. */
export interface AnchorAxis {
  reach: number;
  isLog: boolean;
}

/**
 * Returns the greatest distance of the axis for these distances from now: at least two days, so that marks do not jump
 * about at once.
 */
export function axisReach(distances: readonly bigint[]): number {
  return distances.reduce((reach, each) => Math.max(reach, Math.abs(Number(each))), 172_800_000_000);
}

/** Returns where a mark stands, from 0 (the farthest past) over 0.5 (now) to 1. */
export function axisPlace(away: bigint, { reach, isLog }: AnchorAxis): number {
  const far = Math.abs(Number(away));
  const size = isLog ? Math.log1p(far / EVEN_MICROS) / Math.log1p(reach / EVEN_MICROS) : far / reach;
  return 0.5 + (away < 0n ? -0.5 : 0.5) * Math.min(1, size);
}

interface AxisTick {
  micros: bigint;
  name: string;
}

/** Units of a linear axis from fine to coarse, and how many of them make a round distance. */
const UNITS: readonly [seconds: number, one: string, counts: readonly number[]][] = [
  [86_400, 'day', [1, 2, 5, 10]],
  [2_629_746, 'month', [1, 2, 4]],
  [31_556_952, 'year', [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]],
];

/** So many distances a linear axis labels on either side, at most. */
const LINEAR_TICKS_MAX = 3;

/** The distances that a logarithmic axis may label. */
const TENFOLDS: readonly [seconds: number, name: string][] = [
  [60, '1 min'],
  [3_600, '1 h'],
  [86_400, '1 day'],
  [2_629_746, '1 month'],
  [31_556_952, '1 year'],
  [3_155_695_200, '100 years'],
  [31_556_952_000, '1,000 years'],
];

/** Returns the distances that are labelled on an axis. */
export function axisTicks(axis: AnchorAxis): AxisTick[] {
  return axis.isLog ? logTicks(axis) : linearTicks(axis);
}

function linearTicks({ reach }: AnchorAxis): AxisTick[] {
  const steps = UNITS.flatMap(([seconds, one, counts]) =>
    counts.map((count) => ({ micros: seconds * 1_000_000 * count, count, one })),
  );
  const step = steps.find(({ micros }) => micros * (LINEAR_TICKS_MAX + 0.99) >= reach) ?? steps.at(-1);
  if (step === undefined) return [];
  return Array.from({ length: Math.floor(reach / step.micros) }, (_, index) => {
    const count = step.count * (index + 1);
    const name = `${count.toLocaleString('en')} ${step.one}${count === 1 ? '' : 's'}`;
    return { micros: BigInt(step.micros) * BigInt(index + 1), name };
  });
}

function logTicks(axis: AnchorAxis): AxisTick[] {
  const fit = TENFOLDS.filter(([seconds]) => seconds * 1_000_000 <= axis.reach * 0.8);
  const ticks: AxisTick[] = [];
  let outer = Infinity;
  // From the farthest inward, as long as their names have room beside each other.
  for (const [seconds, name] of [...fit].reverse()) {
    const micros = BigInt(seconds) * 1_000_000n;
    const place = axisPlace(micros, axis);
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
