/** The positions of anchors on an axis with now at the center. */
import { countText } from '../../../lib/events/words';
import type { Micros } from '../../../lib/time/instant';

/** A logarithmic axis is roughly linear up to this distance. Beyond it, each power of ten has the same length. */
const EVEN_MICROS = 60_000_000;

/** Width of a label as a fraction of the axis. */
const NAME_ROOM = 0.13;

/** The axis: its maximum distance from now, and whether it is logarithmic. Linear by default. */
interface AnchorAxis {
  reach: number;
  isLog: boolean;
}

/** Returns the maximum distance of the axis. At least two days, so that the marks near now do not move visibly. */
export function axisReach(distances: readonly bigint[]): number {
  return distances.reduce((reach, each) => Math.max(reach, Math.abs(Number(each))), 172_800_000_000);
}

/** Returns the position of a mark: 0 is the farthest past, 0.5 is now, and 1 is the farthest future. */
export function axisPlace(distance: bigint, { reach, isLog }: AnchorAxis): number {
  const far = Math.abs(Number(distance));
  const size = isLog ? Math.log1p(far / EVEN_MICROS) / Math.log1p(reach / EVEN_MICROS) : far / reach;
  return 0.5 + (distance < 0n ? -0.5 : 0.5) * Math.min(1, size);
}

interface AxisTick {
  micros: bigint;
  name: string;
}

/** Units of a linear axis from fine to coarse, with the multiples that make round distances. */
const UNITS: readonly [seconds: number, one: string, counts: readonly number[]][] = [
  [86_400, 'day', [1, 2, 5, 10]],
  [2_629_746, 'month', [1, 2, 4]],
  [31_556_952, 'year', [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000]],
];

/** Maximum number of labels per side of a linear axis. */
const LINEAR_TICKS_MAX = 3;

/** Label candidates of a logarithmic axis. */
const TENFOLDS: readonly [seconds: number, name: string][] = [
  [60, '1 min'],
  [3_600, '1 h'],
  [86_400, '1 day'],
  [2_629_746, '1 month'],
  [31_556_952, '1 year'],
  [3_155_695_200, '100 years'],
  [31_556_952_000, '1,000 years'],
];

/** Returns the labeled distances of an axis. */
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
    const name = countText(count, step.one);
    return { micros: BigInt(step.micros) * BigInt(index + 1), name };
  });
}

function logTicks(axis: AnchorAxis): AxisTick[] {
  const fit = TENFOLDS.filter(([seconds]) => seconds * 1_000_000 <= axis.reach * 0.8);
  const ticks: AxisTick[] = [];
  let outer = Infinity;
  // From the farthest inward, while the labels do not overlap.
  for (const [seconds, name] of [...fit].reverse()) {
    const micros = BigInt(seconds) * 1_000_000n;
    const place = axisPlace(micros, axis);
    if (outer - place < NAME_ROOM || place - 0.5 < NAME_ROOM) continue;
    ticks.push({ micros, name });
    outer = place;
  }
  return ticks;
}

/** Formats a relative time, such as "3 days ago". */
export function relation(distance: Micros, words: (micros: bigint) => string): string {
  if (distance > -1_000_000n && distance < 1_000_000n) return 'now';
  return distance < 0n ? `${words(distance)} ago` : `in ${words(distance)}`;
}
