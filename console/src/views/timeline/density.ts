/** How many events there are where there are too many to read, asked of the service stretch by stretch. */
import { call } from '../../lib/api';
import { format, parse, type Micros } from '../../lib/instant';

interface Bucket {
  from: Micros;
  to: Micros;
  count: number;
}

interface Summary {
  count: number;
  is_cut: boolean;
  first?: string | null;
  last?: string | null;
  histogram: { from: string; count: number }[];
}

/** The service counts to 100 000 at a time; so many times it is asked on. */
const STRETCHES_MAX = 24;

export interface Density {
  buckets: Bucket[];
  count: number;
  first: Micros | null;
  last: Micros | null;
  /** Whether there is more after `last` that was not counted. */
  isCut: boolean;
}

export async function readDensity(
  timeline: string,
  from: Micros | null,
  to: Micros | null,
  signal: AbortSignal,
  onProgress: (density: Density) => void,
): Promise<Density> {
  const density: Density = { buckets: [], count: 0, first: null, last: null, isCut: false };
  let start = from;
  for (let stretch = 0; stretch < STRETCHES_MAX; stretch += 1) {
    const range = `${start === null ? '..' : format(start)}/${to === null ? '..' : format(to)}`;
    const { summary } = await call<{ summary?: Summary | null }>('POST', 'v1/scan-events', {
      body: { timeline_id: timeline, location: '*', time_range: range, limit: 1 },
      signal,
    });
    if (!summary || summary.count === 0) break;
    const last = parse(summary.last ?? '');
    density.first ??= parse(summary.first ?? '');
    density.buckets.push(...buckets(summary, last));
    density.count += summary.count;
    density.last = last;
    density.isCut = summary.is_cut;
    if (!summary.is_cut || last === null || last === start) break;
    onProgress({ ...density, buckets: [...density.buckets] });
    // The moment where the count stopped may go on; a microsecond later nothing is counted twice.
    start = last + 1n;
  }
  return density;
}

function buckets(summary: Summary, last: Micros | null): Bucket[] {
  return summary.histogram.flatMap((bucket, index) => {
    const from = parse(bucket.from);
    const next = summary.histogram[index + 1];
    const to = next ? parse(next.from) : last;
    return from === null || to === null || bucket.count === 0
      ? []
      : [{ from, to: to > from ? to : from + 1n, count: bucket.count }];
  });
}

/** Returns roughly how many events there are in a range: buckets at its ends count for the part that is in it. */
export function countWithin(density: Density, from: Micros, to: Micros): number {
  let sum = 0;
  for (const bucket of density.buckets) {
    const start = bucket.from > from ? bucket.from : from;
    const end = bucket.to < to ? bucket.to : to;
    if (end > start) sum += (bucket.count * Number(end - start)) / Number(bucket.to - bucket.from);
  }
  return sum;
}

/** Spreads the buckets over columns, by how much of a bucket is in each. */
export function spread(density: Density, columns: number, columnOf: (instant: Micros) => number): Float64Array {
  const counts = new Float64Array(columns);
  for (const bucket of density.buckets) {
    const from = columnOf(bucket.from);
    const to = Math.max(columnOf(bucket.to), from + 1e-9);
    for (let column = Math.max(0, Math.floor(from)); column < Math.min(columns, to); column += 1) {
      counts[column]! += (bucket.count * (Math.min(to, column + 1) - Math.max(from, column))) / (to - from);
    }
  }
  return counts;
}
