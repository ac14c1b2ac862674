/** The intervention that was just applied, for the page that shows it. On a fork, that is a different page. */
import type { InterventionResponse } from './lab';

export interface Applied {
  timeline: string;
  outcome: InterventionResponse;
  /** Whether `restore` returns the event to its state before this intervention. It ignores earlier interventions. */
  isFirst: boolean;
}

let pending: Applied | null = null;

export function storeApplied(applied: Applied): void {
  pending = applied;
}

/** Returns the applied intervention of a timeline, and clears it. */
export function takeApplied(timeline: string): Applied | null {
  const found = pending?.timeline === timeline ? pending : null;
  pending = null;
  return found;
}
