/** The intervention that was just applied, for the page that shows it. On a fork, that is a different page. */
import type { Manipulated } from './lab';

export interface Applied {
  timeline: string;
  outcome: Manipulated;
  /** Whether `restore` returns the event to its state before this intervention. It ignores earlier interventions. */
  isFirst: boolean;
}

let handed: Applied | null = null;

export function passOnApplied(applied: Applied): void {
  handed = applied;
}

/** Returns the applied intervention of a timeline, and clears it. */
export function takeApplied(timeline: string): Applied | null {
  const found = handed?.timeline === timeline ? handed : null;
  handed = null;
  return found;
}
