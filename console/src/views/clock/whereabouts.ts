/** Where followers run, and how long they take, as people read it. */

export interface Place {
  host?: string | null;
  process?: number | null;
}

/** Returns where a follower runs, as far as it says so. */
export function place({ host, process }: Place): string {
  const id = process == null ? '' : `process ${process}`;
  return [host ?? '', id].filter((part) => part !== '').join(', ');
}

/** Returns how long a confirmation took, for people: `2.1 ms`, `4.03 s`. */
export function took(duration: string): string {
  const seconds = Number(/^PT(\d+(?:\.\d+)?)S$/.exec(duration)?.[1] ?? NaN);
  if (Number.isNaN(seconds)) return duration;
  return seconds < 1 ? `${Number((seconds * 1_000).toPrecision(2))} ms` : `${Number(seconds.toPrecision(3))} s`;
}
