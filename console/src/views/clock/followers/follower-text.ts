/** Formats the location, fault and latency of followers. */

interface Place {
  host?: string | null;
  process?: number | null;
}

/** Returns where a follower runs, as far as it reports it. */
export function placeText({ host, process }: Place): string {
  const id = process == null ? '' : `process ${process}`;
  return [host ?? '', id].filter((part) => part !== '').join(', ');
}

export interface Fault {
  offset?: string | null;
  drift_ppm?: number | null;
  jitter?: string | null;
  slew_ppm?: number | null;
  slew_back_ppm?: number | null;
  leap?: string | null;
  leap_smear?: string | null;
}

/** Describes a clock fault: `2s ahead, 200 ppm too fast`. */
export function faultText(fault: Fault): string {
  const parts: string[] = [];
  const { offset, drift_ppm: drift, jitter, slew_ppm: to, slew_back_ppm: from, leap, leap_smear: smear } = fault;
  if (offset != null) {
    const slewed = to != null ? `, slewed to at ${to} ppm` : from != null ? `, slewed back at ${from} ppm` : '';
    const length = offset.replace(/^-/, '');
    parts.push(`${length} ${offset.startsWith('-') ? 'behind' : 'ahead'}${slewed}`);
  }
  if (drift != null) parts.push(`${Math.abs(drift)} ppm too ${drift < 0 ? 'slow' : 'fast'}`);
  if (jitter != null) parts.push(`${jitter} of jitter`);
  if (leap != null) parts.push(`leap second (${leap}${smear != null ? `, smeared over ${smear}` : ''})`);
  return parts.join(', ');
}

/** Formats the time until a confirmation: `2.1 ms`, `4.03 s`. */
export function latencyText(duration: string): string {
  const seconds = Number(/^PT(\d+(?:\.\d+)?)S$/.exec(duration)?.[1] ?? NaN);
  if (Number.isNaN(seconds)) return duration;
  return seconds < 1 ? `${Number((seconds * 1_000).toPrecision(2))} ms` : `${Number(seconds.toPrecision(3))} s`;
}
