/** What was just applied, for the page that shows it: on a fork that is another one than the page it was asked on. */
import type { Manipulated } from './lab';

export interface Applied {
  timeline: string;
  outcome: Manipulated;
  /** Whether `restore` takes the event back to what it was: it knows nothing of what was done to it before. */
  isFirst: boolean;
}

let handed: Applied | null = null;

export function handOver(applied: Applied): void {
  handed = applied;
}

/** Returns what was handed over for a timeline, once. */
export function takeOver(timeline: string): Applied | null {
  const found = handed?.timeline === timeline ? handed : null;
  handed = null;
  return found;
}
