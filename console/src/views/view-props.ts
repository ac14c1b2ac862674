/** What every view gets. */
import type { LiveClock } from '../lib/live/clock.svelte';

export interface ViewProps {
  /** The timeline that is looked at. */
  timeline: string;
  /** Its clock; null while nobody is logged in. */
  clock: LiveClock | null;
}
